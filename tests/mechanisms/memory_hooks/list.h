// Mechanisms of the tests, for the lists of a program that has them (host/mechanisms/list.h).
#pragma once

#define NW_MORE_MECHANISMS(X) X(loop_stall) X(line_check) X(write_check) X(link_cache)
