"""Fourier, cosine and sine transforms, and convolution by them, `pb.fft`."""

from ._convolve import fftconvolve
from ._cosine_transforms import dct, dst, idct, idst
from ._fourier import fft, fft2, fftn, ifft, ifft2, ifftn
from ._frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from ._real_transforms import hfft, ihfft, irfft, irfft2, irfftn, rfft, rfft2, rfftn

__all__ = [
    "dct",
    "dst",
    "fft",
    "fft2",
    "fftconvolve",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "idct",
    "idst",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
