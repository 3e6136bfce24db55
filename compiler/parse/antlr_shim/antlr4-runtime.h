// Stands in for the umbrella header of ANTLR's C++ runtime: what generated
// code and this folder need, and no more. The original also has
// misc/InterpreterDataReader.h, which Clang 14 does not compile (a defaulted
// constructor of a type with a reference-like member), and takes twice as long.
#pragma once

#include "antlr4-common.h"
//
#include "CharStream.h"
#include "CommonToken.h"
#include "CommonTokenFactory.h"
#include "CommonTokenStream.h"
#include "DefaultErrorStrategy.h"
#include "Exceptions.h"
#include "FailedPredicateException.h"
#include "InputMismatchException.h"
#include "Lexer.h"
#include "ListTokenSource.h"
#include "NoViableAltException.h"
#include "Parser.h"
#include "ParserRuleContext.h"
#include "RecognitionException.h"
#include "Token.h"
#include "Vocabulary.h"
#include "atn/ATN.h"
#include "atn/ATNDeserializer.h"
#include "atn/ATNState.h"
#include "atn/LexerATNSimulator.h"
#include "atn/ParserATNSimulator.h"
#include "atn/PredictionMode.h"
#include "dfa/DFA.h"
#include "misc/Interval.h"
#include "misc/IntervalSet.h"
#include "support/CPPUtils.h"
#include "tree/TerminalNode.h"
