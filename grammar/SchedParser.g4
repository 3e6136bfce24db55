// Syntax of the `.sched` language; meaning and examples are in README.md.
//
// One rule per construct, each of which one function of compiler/parse builds.
// Every choice is made by the next token alone, which keeps error messages at
// the token that is wrong; no embedded code.
parser grammar SchedParser;

options { tokenVocab = SchedLexer; }

// ---- Files ----
file : topLevel* EOF ;

topLevel : importDecl | macroDecl | scheduleDecl | SEMI ;

importDecl : IMPORT STRING ;

macroDecl : MACRO name LPAREN (name (COMMA name)*)? RPAREN block ;

scheduleDecl : scheduleHead body ;

scheduleHead
  : SCHEDULE name LPAREN (parameter (COMMA parameter)*)? RPAREN (EXTENDS name)?
  ;

parameter : name (ASSIGN expr)? ;

// ---- Lines of a schedule ----
body : LBRACE item* RBRACE ;

item
  : requireDecl
  | letStmt
  | placeDecl
  | walkDecl
  | rankDecl
  | phaseStmt
  | macroDecl
  | expectDecl
  | quantitiesDecl
  | SEMI
  ;

requireDecl : REQUIRE expr (COMMA STRING)? ;

placeDecl : PLACE placement ;

placement
  : LINEAR                          # placeLinear
  | LOOP LPAREN expr RPAREN         # placeLoop
  | VEE                             # placeVee
  | WAVE LPAREN expr RPAREN         # placeWave
  | CUSTOM LBRACE customRule+ RBRACE # placeCustom
  ;

// Before `in` a plain name; the builder checks it.
customRule
  : STAGE expr range? ARROW RANK expr (COMMA CHUNK expr)? SEMI?
  ;

range : IN expr DOTDOT expr ;

walkDecl : WALK opLetter BY LPAREN expr (COMMA expr)* RPAREN ;

// `rank r`, `rank r in a..b`: a plain name, bound; else the rank's number.
rankDecl
  : RANK expr range? block
  | SLOTS expr range? block
  | BLOCK expr range? EVERY expr block
  ;

expectDecl : EXPECT expr (WHEN expr)? ;

quantitiesDecl : QUANTITIES ;

// ---- Statements ----
block : LBRACE stmt* RBRACE ;

stmt
  : opStmt
  | letStmt
  | phaseStmt
  | repeatStmt
  | forStmt
  | ifStmt
  | macroCall
  | SEMI
  ;

// `F & B`: both at once; the resolver checks which go together.
opStmt : opTerm (AMP opTerm)? ;

opTerm : opLetter (LBRACKET expr RBRACKET)? (AT expr)? (SLOT_AT expr)? ;

letStmt : LET name ASSIGN expr ;

phaseStmt : PHASE name block ;

repeatStmt : REPEAT expr block ;

forStmt : FOR name range block ;

ifStmt : IF expr block (ELSE (ifStmt | block))? ;

macroCall : name LPAREN (expr (COMMA expr)*)? RPAREN ;

opLetter : OP_F | OP_B | OP_I | OP_W ;

// ---- Expressions, tightest first ----
expr
  : primary                                    # exprPrimary
  | op = (MINUS | NOT) expr                    # exprUnary
  | expr op = (STAR | SLASH | PERCENT) expr    # exprBinary
  | expr op = (PLUS | MINUS) expr              # exprBinary
  | expr op = (EQ | NE | LT | LE | GT | GE) expr # exprBinary
  | expr op = AND expr                         # exprBinary
  | expr op = OR expr                          # exprBinary
  | <assoc = right> expr QUESTION expr COLON expr # exprConditional
  ;

primary
  : INT                                        # primaryInt
  | name (LPAREN (argument (COMMA argument)*)? RPAREN)? # primaryName
  | LPAREN expr RPAREN                         # primaryParen
  ;

argument : opLetter (AMP opLetter)? | expr ;

name
  : IDENT
  | LINEAR | LOOP | VEE | WAVE | CUSTOM | STAGE | CHUNK
  | BLOCK | EVERY
  ;
