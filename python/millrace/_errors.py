"""The exceptions of the package: one class for each status code of Millrace.

Every one of them is an `Error`. `code` is the name of the status code, and `str()` says what happened
and to what. A class is also one of Python's own exceptions where programs expect that.
"""

from __future__ import annotations

from concurrent.futures import CancelledError as _CancelledError


class Error(Exception):
    """A call or a job failed. `code` says what the caller can do about it."""

    code: str = "INTERNAL"

    @property
    def message(self) -> str:
        """The text of the error."""
        return str(self)


class Pending(Error, TimeoutError):
    """The job has not ended within the timeout of a wait. It goes on: wait again."""

    code = "PENDING"


class InvalidArgument(Error, ValueError):
    """The call is wrong: a shape, a dtype, a name or an option. Correct it."""

    code = "INVALID_ARGUMENT"


class NotFound(Error, FileNotFoundError):
    """There is no such file, device or name."""

    code = "NOT_FOUND"


class InvalidJobId(Error):
    """The result of the job is not kept any more: 65,536 later ones of its unit were not collected."""

    code = "INVALID_JOB_ID"


class QueueFull(Error):
    """The unit has no place for the job. Nothing has changed: submit again after a job has ended."""

    code = "QUEUE_FULL"


class OutOfMemory(Error, MemoryError):
    """An allocation failed, or a model needs more than its memory limit."""

    code = "OUT_OF_MEMORY"


class Unsupported(Error, NotImplementedError):
    """What was asked for is valid, but not offered here. The message names all of it."""

    code = "UNSUPPORTED"


class CorruptData(Error, ValueError):
    """A file is not what it claims to be. The message says where."""

    code = "CORRUPT_DATA"


class IoError(Error, OSError):
    """The operating system refused."""

    code = "IO_ERROR"


class Cancelled(Error, _CancelledError):
    """The job was cancelled before it had finished, by cancel() or as its unit was closed."""

    code = "CANCELLED"


class DeadlineExceeded(Error):
    """The deadline of the job passed before it had finished."""

    code = "DEADLINE_EXCEEDED"


class Dropped(Error):
    """The job gave way to a newer one, as the policy of its unit says."""

    code = "DROPPED"


class Hung(Error):
    """The job made no progress and was given up. The message names the operator and its tensor.

    The arrays of the job are never freed, since its thread may still write to them.
    """

    code = "HUNG"


class DeviceFailed(Error):
    """The device failed while it ran the job."""

    code = "DEVICE_FAILED"


class UnitDegraded(Error):
    """A job of the unit hung, or its device failed. Call Unit.reset()."""

    code = "UNIT_DEGRADED"


class NoLane(Error):
    """All threads of the device were lost to jobs that hang. Restart the process."""

    code = "NO_LANE"


class Closed(Error):
    """The unit was closed. Make another one."""

    code = "CLOSED"


class Busy(Error):
    """Others hold what is needed. Retry once they have released it."""

    code = "BUSY"


class ResourceExhausted(Error):
    """The system has no thread or id left. Free some, or raise the limit."""

    code = "RESOURCE_EXHAUSTED"


class Forked(Error):
    """Millrace was used before the process forked, and can be used in the parent only.

    With multiprocessing, choose the start method "spawn" or "forkserver".
    """

    code = "FORKED"


class Internal(Error):
    """A defect of Millrace or of a library that it uses."""

    code = "INTERNAL"


# The class of each status code.
ERRORS: dict[str, type[Error]] = {made.code: made for made in Error.__subclasses__()}
