#!/bin/bash
# page_test.sh TOOLS SCHEDULES: the HTML timeline in a real browser.
#
# A script is added to the page that moves the pointer over it and turns the
# wheel, and writes what the page then says into its text, which is compared.
# Without chromium the test is skipped (exit 77).
set -eu
tools=$1 schedules=$2
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
  echo "skipped: no chromium (Debian: apt-get install chromium)"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$tools/ppc" show "$schedules/one_f_one_b.sched" -P 4 -M 8 -o "$scratch/page.html"
cat >> "$scratch/page.html" <<'SCRIPT'
<pre id="said"></pre>
<script>
const say = (what) => { by("said").textContent += what + "\n"; };
window.onerror = (what) => say("error: " + what);
const canvas = by("time"), area = () => canvas.getBoundingClientRect();
function point(kind, t, rank, more = {}) {
  const x = area().left + x_of(t, area().width), y = area().top + rank * (ROW + GAP) + ROW / 2;
  canvas.dispatchEvent(new (kind === "wheel" ? WheelEvent : PointerEvent)(kind,
      Object.assign({ clientX: x, clientY: y, bubbles: true, cancelable: true, pointerId: 1 }, more)));
}
const coloured = () => {
  const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const seen = new Set();
  for (let i = 0; i < all.length; i += 4) seen.add(all[i] + "," + all[i + 1] + "," + all[i + 2]);
  return seen.size > 4;
};
say("title: " + document.title);
say("drawn: " + coloured());
point("pointermove", 8.5, 2);
say("over: " + by("tip").textContent);
point("pointermove", 6, 0);
say("idle: " + by("tip").textContent);
const before = to - from;
point("wheel", 8.5, 2, { deltaY: -400 });
say("zoomed: " + (to - from < before / 2) + " around " + (from < 8.5 && to > 8.5));
point("pointermove", 8.5, 2);
say("still over: " + by("tip").textContent.split("\n")[0]);
by("fit").click();
say("all: " + (from === 0 && to === data.end));
</script>
SCRIPT
"$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$scratch/profile" \
  --window-size=1200,700 --dump-dom "file://$scratch/page.html" > "$scratch/dom" 2> "$scratch/log" ||
  { cat "$scratch/log"; exit 1; }
sed -n '/<pre id="said">/,/<\/pre>/p' "$scratch/dom" | sed 's/<[^>]*>//g; /^$/d' > "$scratch/said"
cat > "$scratch/expected" <<EXPECTED
title: one_f_one_b P=4 M=8
drawn: true
over: F (forward), stage 2, micro-batch 2, rank 2
simulated 8 to 9 (1)
$schedules/one_f_one_b.sched:22:38 steady[1]
phase steady { repeat M-warmup { F B } }
idle: rank 0 is idle
busy 24 of 33 (72.73 %)
zoomed: true around true
still over: F (forward), stage 2, micro-batch 2, rank 2
all: true
EXPECTED
diff -u "$scratch/expected" "$scratch/said"
