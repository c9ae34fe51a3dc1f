"""How sensitive is a mechanism's gain to the bandwidth of the links? A table, and where matplotlib is, a plot."""

import nearwarp as nw

BANDWIDTHS = [20000, 40000, 80000, 160000]  # 10^6 bytes a second, each direction

table = nw.sweep(["axpy", "kmeans"], "tom", ["baseline", "ndp-ideal"],
                 {"links.gpu_to_memory_mbps": BANDWIDTHS})
gain = table[table.policy == "ndp-ideal"].pivot(index="links.gpu_to_memory_mbps", columns="program",
                                                values="speedup")
print(gain.round(3).to_string())

try:
    import matplotlib
    matplotlib.use("Agg")
except ImportError:
    print("no matplotlib: no plot")
else:
    axes = gain.plot(marker="o", logx=True, ylim=(0, None), xlabel="GPU-memory links [10^6 bytes/s]",
                     ylabel="speed-up over baseline")
    axes.figure.savefig("sensitivity.svg", bbox_inches="tight")
    print("sensitivity.svg")
