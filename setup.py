"""Build the kernels where there is a C compiler; install without them where there is none."""

from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    ext_modules=cythonize(
        [
            Extension(
                "leadline.kernels.compiled.trec",
                ["src/leadline/kernels/trec.py"],
                extra_compile_args=["-O3"],
                optional=True,
            )
        ],
        build_dir="build",
        language_level=3,
    )
)
