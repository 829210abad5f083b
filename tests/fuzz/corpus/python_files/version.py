from typing import Optional
__version__ = '2.9.1+rocm7.2.0'
debug = False
cuda: Optional[str] = None
hip: Optional[str] = '7.2.26015'
