"""A program's demand for memory over time: bytes read from DRAM, by phase of the run."""

import nearwarp as nw

COUNTERS = ["dram.bytes_read", "sm.l1.read_hits"]

table = nw.follow("kmeans", "tom", "tom", every=20000, counters=COUNTERS)
print(table.to_string())
busiest = table["dram.bytes_read"].idxmax()
print(f"most is read before cycle {busiest}")
