"""The smallest L2 that costs kmeans at most a tenth of its speed: bisection over the sizes that a machine can have."""

import nearwarp as nw

LEAST = 0.9

program = nw.Program.workload("kmeans")
machine = nw.Machine("tom")
whole = machine["l2.bytes"]
full = nw.run(program, machine).cycles

kept, tried = whole, whole // 2
while tried >= whole // 64:
    try:
        smaller = machine.changed({"l2.bytes": tried})
    except nw.Error as error:  # the slices' sets would be no power of two, say
        print(f"{tried}: {error}")
        break
    share = full / nw.run(program, smaller).cycles
    print(f"L2 of {tried // 1024} KB: {share:.3f} of the speed")
    if share < LEAST:
        break
    kept, tried = tried, tried // 2
print(f"{kept // 1024} KB of {whole // 1024} KB are enough")
