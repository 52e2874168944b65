"""A folder of photographs, such as CelebA's, as one array of small images on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zfree.errors import DataError, MissingDependencyError, SpecificationError
from zfree.files import write_beside

KINDS = (".jpg", ".jpeg", ".png")


def face_files(folder: str | Path) -> list[Path]:
    """The images of a folder, or of ``img_align_celeba`` in it, in the order of their names; an error if there are none."""
    path = Path(folder)
    if not path.exists():
        raise DataError(
            f"there is no folder {str(folder)!r}. Download the aligned and cropped images of CelebA (img_align_celeba.zip), unpack "
            "them, and give the folder."
        )
    if not path.is_dir():
        raise DataError(f"{str(folder)!r} is a file; unpack the images and give their folder.")
    inner = path / "img_align_celeba"
    files = sorted(p for p in (inner if inner.is_dir() else path).iterdir() if p.suffix.lower() in KINDS)
    if not files:
        raise DataError(f"{str(folder)!r} has no images ({', '.join(KINDS)}).")
    return files


def check_faces(files: list[Path], crop: int) -> None:
    """Open the first, the middle and the last image, so that a wrong folder is refused at once."""
    for file in {files[0], files[len(files) // 2], files[-1]}:
        _small(file, crop, 16)


def load_faces(
    folder: str | Path,
    cache: str | Path,
    *,
    side: int = 64,
    crop: int = 140,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> NDArray[np.uint8]:
    """Images cut to their center and reduced, (N, 3 · side²) bytes, memory-mapped from the file `cache`.

    The file is made at the first call and taken at the next, as long as the files of the folder have the same names and
    sizes, and `crop` and `side` are the same.

    Parameters
    ----------
    folder : path
        Of the images.
    cache : path
        A ``.npy`` file to keep them in: N · 3 · side² bytes.
    side : int
        Of the reduced images.
    crop : int
        Of the square in the center; 140 for CelebA's 178 × 218.
    progress : callable
        Called with the number of images done and of all.
    """
    if crop < 1 or side < 1:
        raise SpecificationError(f"crop and side must be positive, got {crop!r} and {side!r}.")
    files = face_files(folder)
    path = Path(cache).with_name(f"{Path(cache).stem}-{crop}-{side}-{face_digest(files)}.npy")
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _reduce(files, path, crop, side, progress)
    # Copy on write: torch wants arrays it could write to, and the file must stay as it is.
    try:
        images: NDArray[np.uint8] = np.load(path, mmap_mode="c", allow_pickle=False)
    except Exception as error:  # a foreign or damaged file can fail anywhere in numpy
        raise DataError(f"{path} is damaged ({error}). Delete it, and it is made again.") from error
    if not isinstance(images, np.ndarray) or images.dtype != np.uint8 or images.shape != (len(files), 3 * side**2):
        raise DataError(f"{path} does not hold these images. Delete it, and it is made again.")
    return images


def face_digest(files: list[Path]) -> str:
    """Names and sizes of the files, in short."""
    listing = "\n".join(f"{p.name} {p.stat().st_size}" for p in files)
    return hashlib.sha256(listing.encode()).hexdigest()[:16]


def _reduce(files: list[Path], path: Path, crop: int, side: int, progress: Callable[[int, int], None]) -> None:
    wrong: list[str] = []
    with write_beside(path) as beside, beside.open("wb") as out:
        header = {"descr": "|u1", "fortran_order": False, "shape": (len(files), 3 * side**2)}
        np.lib.format.write_array_header_1_0(out, header)
        for k, file in enumerate(files):
            try:
                out.write(_small(file, crop, side).tobytes())
            except DataError as error:
                wrong.append(str(error))
            if (k + 1) % 1000 == 0 or k + 1 == len(files):
                progress(k + 1, len(files))
        if wrong:
            more = f" And {len(wrong) - 1} more." if len(wrong) > 1 else ""
            raise DataError(wrong[0] + more)


def _small(file: Path, crop: int, side: int) -> NDArray[np.uint8]:
    Image, ImageOps = _pillow()
    try:
        with Image.open(file) as opened:
            picture = ImageOps.exif_transpose(opened)
            if picture.mode.startswith(("I", "F")):
                raise DataError(f"{file.name} has more than a byte per pixel ({picture.mode}). Save it with 8 bits.")
            if "A" in picture.getbands() or "transparency" in picture.info:
                picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture.convert("RGBA"))
            picture = picture.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{file.name} cannot be read as an image ({error}). Take it away or download it again."
        ) from error
    across, down = picture.size
    if min(across, down) < crop:
        raise DataError(
            f"{file.name} has {across} × {down} pixels, less than the square of {crop} to be cut from it. CelebA's aligned images have "
            "178 × 218; for others choose a smaller crop."
        )
    left, top = (across - crop) // 2, (down - crop) // 2
    square = picture.crop((left, top, left + crop, top + crop)).resize((side, side), Image.Resampling.BILINEAR)
    return np.asarray(square, dtype=np.uint8).transpose(2, 0, 1).reshape(-1)


def _pillow() -> tuple[Any, Any]:
    try:
        from PIL import Image, ImageOps
    except ImportError as error:
        raise MissingDependencyError("reading images needs pillow: run `pip install zfree[neural]`.") from error
    return Image, ImageOps
