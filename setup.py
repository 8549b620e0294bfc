"""Build the kernels where there is a C compiler; install without them where there is none."""

from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = ("scan", "lists", "pairs")

setup(
    ext_modules=cythonize(
        [
            Extension(
                f"leadline.kernels.compiled.{name}",
                [f"src/leadline/kernels/{name}.py"],
                extra_compile_args=["-O3"],
                optional=True,
            )
            for name in KERNELS
        ],
        build_dir="build",
        language_level=3,
    )
)
