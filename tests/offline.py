"""No network: after `cut`, a process reaches nothing but its own machine. pytest calls it, and every kernel runs this file first.

What runs in C or Rust, and other programs, are not stopped: on Linux, `unshare --net` stops those too.
"""


def cut():
    """From here on, and until the process ends, looking up another host and connecting to it raise OSError."""
    import errno  # here: what this file binds is bound in a lesson's kernel too
    import socket
    import sys
    here = {None, "", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::", socket.gethostname()}

    def refuse(event, args):
        if event in ("socket.connect", "socket.sendto"):
            host = args[1][0] if isinstance(args[1], tuple) else None                    # else a path, on this machine
        elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
            host = args[0]
        else:
            return
        if host not in here:
            raise OSError(errno.ENETUNREACH, f"the tests have no network, and {host!r} is not this machine")

    sys.addaudithook(refuse)


if __name__ == "__main__":
    cut()
