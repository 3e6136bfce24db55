// Tokens of the `.sched` language. Characters are bytes: everything but
// comments and texts is ASCII, and offsets into the file come out as they are.
//
// Every byte sequence is a sequence of tokens: the last rules catch what has no
// meaning, so that one place (compiler/parse/token_check) words all errors.
lexer grammar SchedLexer;

// ---- Keywords ----
SCHEDULE : 'schedule' ;
EXTENDS  : 'extends' ;
REQUIRE  : 'require' ;
PLACE    : 'place' ;
WALK     : 'walk' ;
BY       : 'by' ;
RANK     : 'rank' ;
PHASE    : 'phase' ;
REPEAT   : 'repeat' ;
FOR      : 'for' ;
IN       : 'in' ;
IF       : 'if' ;
ELSE     : 'else' ;
LET      : 'let' ;
MACRO    : 'macro' ;
IMPORT   : 'import' ;
EXPECT   : 'expect' ;
SLOTS    : 'slots' ;
SLOT_AT  : 'at' ;
WHEN     : 'when' ;

// Words with a meaning in placements, and before a block, only; names everywhere
// else.
LINEAR   : 'linear' ;
LOOP     : 'loop' ;
VEE      : 'vee' ;
WAVE     : 'wave' ;
CUSTOM   : 'custom' ;
STAGE    : 'stage' ;
CHUNK    : 'chunk' ;
BLOCK    : 'block' ;
EVERY    : 'every' ;

// Operations.
OP_F : 'F' ;
OP_B : 'B' ;
OP_I : 'I' ;
OP_W : 'W' ;

// Costs and sizes have a notation of their own (compiler/ir/cost_text.h), and
// so are one token with what stands between their braces.
QUANTITIES : ('cost' | 'mem') [ \t\r\n]* '{' ~[{}]* '}' ;

// Kept free for what the language will get: no names.
RESERVED
  : 'cost' | 'mem' | 'weights' | 'table' | 'bidir'
  | 'R' | 'U'
  ;

// ---- Names, numbers, texts ----
IDENT  : LETTER (LETTER | DIGIT)* ;
INT    : DIGIT+ ;
STRING : '"' ('\\' ~[\r\n] | ~["\\\r\n])* '"' ;

// ---- Punctuation ----
LBRACE   : '{' ;
RBRACE   : '}' ;
LPAREN   : '(' ;
RPAREN   : ')' ;
LBRACKET : '[' ;
RBRACKET : ']' ;
COMMA    : ',' ;
SEMI     : ';' ;
AT       : '@' ;
DOTDOT   : '..' ;
ARROW    : '->' ;
AMP      : '&' ;
ASSIGN   : '=' ;
QUESTION : '?' ;
COLON    : ':' ;

// ---- Operators ----
OR      : '||' ;
AND     : '&&' ;
EQ      : '==' ;
NE      : '!=' ;
LE      : '<=' ;
GE      : '>=' ;
LT      : '<' ;
GT      : '>' ;
PLUS    : '+' ;
MINUS   : '-' ;
STAR    : '*' ;
SLASH   : '/' ;
PERCENT : '%' ;
NOT     : '!' ;

// ---- Skipped ----
SPACE         : [ \t\r\n]+ -> skip ;
LINE_COMMENT  : '//' ~[\r\n]* -> skip ;
BLOCK_COMMENT : '/*' .*? '*/' -> skip ;

// ---- Without meaning ----
DECIMAL      : DIGIT+ '.' DIGIT+ (LETTER | DIGIT)* ;
BAD_NUMBER   : DIGIT+ LETTER (LETTER | DIGIT)* ;
OPEN_STRING  : '"' ('\\' ~[\r\n] | ~["\\\r\n])* ;
OPEN_COMMENT : '/*' ;
FOREIGN      : [\u0080-\u00FF]+ ;
UNKNOWN      : . ;

fragment LETTER : [A-Za-z_] ;
fragment DIGIT  : [0-9] ;
