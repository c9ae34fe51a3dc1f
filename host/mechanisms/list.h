// The mechanisms that come with the program, by the name of their folder and namespace. Who wants
// something of all of them makes it of this list: declarations.cpp what configuration knows of
// them, built_in.cpp what runs them. One that has device code of its own is a line in
// kernels::Mechanisms, too, in the same place among those.
//
// Who builds a program with mechanisms from elsewhere names a header that has them as
// NW_MORE_MECHANISMS(X), and includes their device code for kernels::Mechanisms
// (cmake/NearwarpProgram.cmake writes it).
#pragma once

#ifdef NW_MORE_MECHANISMS_HEADER
#include NW_MORE_MECHANISMS_HEADER
#else
#define NW_MORE_MECHANISMS(X)
#endif

#define NW_EACH_MECHANISM(X) X(tom) X(tuning) X(opportunistic) X(mpu) X(coda) NW_MORE_MECHANISMS(X)
