// Mnemonics whose modifiers form families of their own: textures, matrices, copies, video.
#pragma once

#include <string_view>

#include "host/functional/ptx/mnemonic.h"
#include "host/functional/ptx/word_list.h"

namespace nearwarp::ptx {

/// Decode a mnemonic of a family; false if `text` belongs to none. Operand letters beyond those of
/// Mnemonic: Y destinations and y sources of any width, single or in braces; X a texture address
/// `[handle, {coordinates}]`.
bool decode_family(std::string_view text, Mnemonic* out);

// mnemonic_copies.cpp: after cp and after mbarrier
void asynchronous_copy(WordList words, Mnemonic* out);
void mbarrier(WordList words, Mnemonic* out);

// mnemonic_products.cpp
/// mma of formats that are no types of registers, of sparse factors, or of quads of threads; false
/// if it is another one.
bool small_matrix(WordList words, Mnemonic* out);
void warp_group_matrix(WordList words, Mnemonic* out);

// mnemonic_small_floats.cpp
/// cvt to and from formats that registers have no types for, and with random bits; false if it is
/// another one.
bool small_float(WordList words, Mnemonic* out);

// mnemonic_tiles.cpp
/// Reads the words behind cp{.reduce}.async.bulk.tensor; false if they are not supported.
bool tensor_copy(WordList* words, bool reduces, Mnemonic* out);
void bulk_reduction(WordList words, Mnemonic* out);
/// st.async, red.async; false if it is another st or red.
bool asynchronous_store(std::string_view base, WordList words, Mnemonic* out);
bool multimem(WordList words, Mnemonic* out);
void launch_control(WordList words, Mnemonic* out);
void change_of_map(WordList words, Mnemonic* out);

}  // namespace nearwarp::ptx
