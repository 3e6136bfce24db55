// What a fuzzer promises about every input; a broken promise ends it.
#pragma once

#include <cstdio>
#include <cstdlib>

#define PP_FUZZ_CHECK(condition)                                              \
  do {                                                                        \
    if (!(condition)) {                                                       \
      std::fprintf(stderr, "%s:%d: broken promise: %s\n", __FILE__, __LINE__, \
                   #condition);                                               \
      std::abort();                                                           \
    }                                                                         \
  } while (false)
