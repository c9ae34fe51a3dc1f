"""Names of the machines, policies, experiments and workloads that come with nearwarp or are on its path."""

from __future__ import annotations

from . import _core


def machine_names() -> list[str]:
    """Names of the machines there are, for Machine()."""
    return _core.machine_names()


def policy_names() -> list[str]:
    """Names of the policies there are, for Policy()."""
    return _core.policy_names()


def experiment_names() -> list[str]:
    """Names of the experiments there are, for Experiment()."""
    return _core.experiment_names()


def workload_names() -> dict[str, str]:
    """Programs that come with nearwarp: a dict from name to description."""
    return dict(_core.workload_names())
