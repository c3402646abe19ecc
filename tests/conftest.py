"""Before any kernel starts: one thread each, for two kernels that fight over two cores take ten times as long."""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
