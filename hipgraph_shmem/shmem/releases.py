"""x."""


def unavailable(function: str, name: str) -> str:
    """X."""
    return f"{function} {name}"
