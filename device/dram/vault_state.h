// The state of a vault or memory channel: parameters, queue, banks, counters. Its behaviour:
// device/dram/vault.h.
#pragma once

#include "device/core/bits.h"
#include "device/core/fault.h"
#include "device/core/mechanisms.h"
#include "device/core/packet.h"
#include "device/core/step.h"
#include "device/core/translation.h"
#include "device/dram/channel_map.h"
#include "device/dram/constraints.h"

namespace nearwarp {

inline constexpr uint32_t kMaxVaultBanks = 64;  ///< banks times row buffers
inline constexpr uint32_t kMaxBankGroups = 8;
inline constexpr uint32_t kMaxVaultEntries = 64;  ///< reads and writes together
inline constexpr uint32_t kMaxVaultExits = 4;

/// Timings in command-clock cycles.
/// Source: names after JESD79-3F; tRTW is the least distance from a read to a write command; `_L`
/// is the distance within a bank group (JESD79-4), felt only where there are several; 0: no such
/// constraint, but for tCL and tCWL.
struct VaultParams {
  uint32_t period = 1;  ///< ticks per command-clock cycle
  uint32_t tCL = 0, tCWL = 0, tRCD = 0, tRP = 0, tRAS = 0, tRC = 0, tRRD = 0, tFAW = 0, tCCD = 0,
           tWR = 0, tWTR = 0, tRTP = 0, tRTW = 0, tREFI = 0, tRFC = 0;  ///< tREFI 0: no refresh
  uint32_t tCCD_L = 0, tRRD_L = 0, tWTR_L = 0;
  uint32_t ticks_per_byte_num = 1, ticks_per_byte_den = 1;  ///< data bus or TSVs
  uint32_t starvation_cycles = 0;
  uint32_t fixed_latency_cycles = 0;       ///< added to every reply
  uint32_t write_high = 1, write_low = 0;  ///< watermarks of the write drain, in requests
  uint32_t rebase_cycles = 1u << 30;  ///< cycle counters are brought back to zero after so many
  /// Reads and writes that may wait; together at least as many as there are entries.
  uint32_t read_entries = kMaxVaultEntries, write_entries = kMaxVaultEntries;
  /// Replies are handed to the channel so many ticks before their data is there; the channel's
  /// latency covers the time. At most from a read command to the end of its data.
  uint32_t reply_lead_ticks = 0;
  uint8_t in_order = 0;        ///< FCFS: only the oldest read (write, while writes are drained)
  uint8_t closed_page = 0;     ///< the last of the waiting accesses to a row closes it
  uint8_t posted_writes = 0;   ///< a write is done when it is taken in; no acknowledgement
  uint8_t forward_writes = 0;  ///< reads of lines that wait to be written are answered from there
  uint8_t two_command_buses = 0;  ///< a row and a column command per cycle (HBM)
  uint8_t row_buffer_bits = 0;    ///< log2 of the row buffers per bank
  uint8_t any_row_buffer = 0;     ///< a row takes any of them; 0: row mod buffers chooses
  uint8_t group_shift = 31;       ///< a bank's (row buffer's) group is its index >> group_shift
  uint8_t own_map = 0;            ///< `channel_map` instead of `map`
  uint8_t sector_reads = 0;       ///< a read that names sectors is of these, not of the line
  uint16_t burst_mask = 0;        ///< bytes of a burst, a power of two, less one
  uint16_t line_bus_bytes = 0;    ///< what the bus carries for a read; 0: the line's whole bursts
  uint8_t general = 0;     ///< there are rows, parts that are refreshed in turn, or several buses
  uint8_t bus_shift = 31;  ///< a bank's data bus is its index >> bus_shift
  DramRefresh refresh;
  DramRows rows;
  ChannelMap channel_map;
  uint16_t header_bytes = 0, line_bytes = 0, sector_bytes = 0;
  Endpoint endpoint{};  ///< this vault
  AddressMaps map;
};

struct VaultEntry {
  Tick arrived = 0;
  uint32_t order = 0;  ///< age: less is older
  uint32_t row = 0;
  LineAddr line = 0;
  uint32_t tag = 0, sectors = 0;
  Endpoint src{};
  uint16_t data_bytes = 0;
  uint8_t bank = 0;
  uint8_t kind = 0;      ///< PacketKind
  uint8_t opened = 0;    ///< bit 0: an activation was made for it, bit 1: a precharge
  uint8_t silent = 0;    ///< the write half of an atomic, a mechanism's own: no reply
  uint8_t older = 0xff;  ///< neighbours in the order of age; 0xff: none
  uint8_t younger = 0xff;
  uint16_t reserved = 0;
};

/// A reply on its way out.
struct VaultReply {
  Tick due = 0;      ///< when it is handed over
  Tick arrived = 0;  ///< when its request was taken in
  LineAddr line = 0;
  uint32_t tag = 0, sectors = 0;
  Endpoint dst{};
  uint16_t bytes = 0;
  uint32_t kind = 0;
  uint32_t reserved = 0;
};

/// Where replies leave. Those that wait at one exit for their way on do not hold up another's.
struct VaultExit {
  Ref<Channel> out;
  Ref<VaultReply> replies;  ///< ring; full with as many as the queue has entries
  uint32_t head = 0, count = 0;
  Tick last_due = 0;
};

struct VaultCounters {
  uint64_t requests_in = 0, replies_out = 0;
  uint64_t reads = 0, writes = 0, atomics = 0;
  uint64_t atomic_writes = 0;                                ///< write halves of atomics
  uint64_t row_hits = 0, row_misses = 0, row_conflicts = 0;  ///< per column command
  uint64_t activates = 0, precharges = 0, refreshes = 0;
  uint64_t read_commands = 0, write_commands = 0;
  uint64_t forwarded_reads = 0;  ///< reads answered from waiting writes
  uint64_t data_bytes_read = 0, data_bytes_written = 0;
  uint64_t bus_busy_ticks = 0;
  uint64_t queue_ticks = 0;    ///< sum over requests of the time in the queue
  uint64_t latency_ticks = 0;  ///< sum over replies of the time from entry to departure
  uint64_t near_reads = 0, near_ticks = 0;  ///< reads that leave their data near: latency_ticks
  uint64_t turnarounds = 0;                 ///< changes between reading and writing
  uint64_t lines_told = 0;                  ///< to an L2 slice: other stacks have written them
  uint64_t starved = 0;                     ///< requests that passed the starvation bound
};

/// The earliest cycles (from `epoch`) in which a command of each kind can issue, of one bank or of
/// any; ~0: none waits.
struct VaultCommands {
  uint32_t column = 0xffffffffu, activate = 0xffffffffu, precharge = 0xffffffffu;
};

struct VaultState {
  Ref<Channel> in;
  Ref<VaultEntry> entries;
  // Per bank; cycles count from `epoch`.
  // With several row buffers per bank, each of them counts as a bank.
  Ref<uint32_t> open_row;
  Ref<uint32_t> act_ok, col_ok, pre_ok;     ///< earliest cycle the bank allows the command
  Ref<uint32_t> col_key, act_key, pre_key;  ///< that cycle if the bank waits for it, else ~0
  Ref<uint32_t> order_key;                  ///< age of the request that it is for
  Ref<uint8_t> chosen;                      ///< that request's entry
  Ref<uint64_t> bank_entries;               ///< entries for the bank
  Ref<uint64_t> row_entries;                ///< of those: for the open row
  /// Where rows take any row buffer, per buffer: the row that it was given to, and when it was last
  /// wanted. Count 0 otherwise.
  Ref<uint32_t> given_row;
  Ref<uint64_t> last_wanted;
  uint64_t wanted = 0;  ///< requests that have come
  uint64_t epoch = 0;
  uint64_t valid = 0;   ///< entries in use
  uint64_t writes = 0;  ///< of those: the next column command is a write
  uint64_t open_banks = 0;
  uint64_t waiting_banks = 0;  ///< those with entries
  // For rows of constraints: per command, scope and part the earliest cycle; the cycles of the
  // last four activations of each part, + the window, and which is the oldest. Count 0: no rows.
  Ref<uint32_t> row_ok, windows, oldest_in_window;
  uint64_t refreshing = 0;    ///< banks whose refresh is due: they take no other commands
  uint32_t refresh_part = 0;  ///< the next one
  uint64_t closed_by = 0;     ///< cycle (from zero) after the last precharge for a part's refresh
  uint64_t refresh_at = 0;    ///< cycle (from zero) at which the next refresh is due
  VaultCommands commands;
  uint64_t command = uint64_t{1} << 40;  ///< cycle (from zero) of the next one, or of a refresh
  Tick bus_free[kMaxDramBuses] = {};
  uint64_t bus_busy_cycles = 0;  ///< whole cycles (from zero) until then, of a channel's only bus
  uint32_t read_ok = 0, write_ok = 0, activate_ok = 0;  ///< rank-level constraints
  uint32_t group_read_ok[kMaxBankGroups] = {}, group_write_ok[kMaxBankGroups] = {},
           group_activate_ok[kMaxBankGroups] = {};  ///< constraints within a bank group
  uint32_t activations[4] = {};                     ///< cycles of the last four, + tFAW: ring
  uint32_t oldest_activation = 0;
  uint32_t next_order = 0;
  uint32_t oldest = 0xff, youngest = 0xff;  ///< ends of the list in order of age
  Tick starves_at = kNever;                 ///< the oldest, unless one starves already
  uint32_t starving = 0xff;                 ///< entry that goes before everything else
  uint32_t head = 0xff;                     ///< FCFS: the only entry that may go on
  uint32_t write_mode = 0;
  VaultExit exits[kMaxVaultExits];
  Ref<uint8_t> exit_of;  ///< by destination; count 0: all leave by the first
  /// By endpoint: 1: its writes are told to the L2 slice `tells`; count 0: none are.
  Ref<uint8_t> foreign;
  Endpoint tells{};
  uint32_t num_exits = 1;
  uint32_t waiting_exits = 0;  ///< those with replies, as bits
  uint32_t full_exits = 0;     ///< number of those whose ring is full
  uint32_t last_exit = 0;      ///< that sent last: the others come first
  // Entries of mechanisms (MemoryHooks), and which of these had the last request and the last
  // reply.
  uint64_t own = 0;
  uint32_t last_taken = memory_hooks::kNoContender, last_reply = memory_hooks::kNoContender;
  Attachments attached;
  VaultCounters counters;
  Fault fault;
};

}  // namespace nearwarp
