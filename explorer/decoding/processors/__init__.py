"""The stages of the decoding chain, one class a filter, registered once each in `STAGES`."""

from explorer.decoding.processors.base import StepContext

__all__ = ["StepContext"]
