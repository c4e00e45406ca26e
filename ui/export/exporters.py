"""The picture formats as the command line finds them, through the entry points of this package."""

from __future__ import annotations

from datetime import date
from typing import BinaryIO

from explorer.export.document import SessionDocument
from explorer.export.picture import PictureOptions
from explorer.i18n import N_
from explorer.progress import CancelToken, ProgressCallback, ignore_progress
from ui.export.missing import libraries_missing


class _Picture:
    name: str
    suffix: str
    label: str

    def write(self, document: SessionDocument, file: BinaryIO) -> None:
        self.write_picture(document, PictureOptions(), file)

    def write_picture(
        self,
        document: SessionDocument,
        options: PictureOptions,
        file: BinaryIO,
        cancel: CancelToken | None = None,
        progress: ProgressCallback = ignore_progress,
    ) -> None:
        """Paint the tree of a stored session. Raises `ExportError` where it cannot be, `Cancelled`."""
        try:
            # Here, for without its libraries these formats are still known, and say what is missing.
            from ui.export.application import ensure_application
            from ui.export.formats import WRITERS
            from ui.export.sheet import Sheet
            from ui.export.subject import subject_of_document
            from ui.export.work import Work
        except ImportError as error:
            raise libraries_missing(str(error)) from error
        font = ensure_application().font()
        sheet = Sheet(subject_of_document(document, options), options, font, date.today())
        WRITERS[self.name](sheet, file, Work(cancel, progress))


class PngExporter(_Picture):
    """Pixels, as many as ``scale`` says."""

    name = "png"
    suffix = ".png"
    label = N_("PNG: a picture of pixels")


class SvgExporter(_Picture):
    """Lines and text, for the web and for editing."""

    name = "svg"
    suffix = ".svg"
    label = N_("SVG: a drawing, for the web and for editing")


class PdfExporter(_Picture):
    """One page whose text can be selected."""

    name = "pdf"
    suffix = ".pdf"
    label = N_("PDF: a drawing, for papers and printing")
