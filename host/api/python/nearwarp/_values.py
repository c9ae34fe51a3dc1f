"""Values of keys, as Python and as TOML has them."""


def text_of(value):
    """A key's value as TOML has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def value_of(text):
    """The other way round: a bool, an int, or the text."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text.replace("_", ""), 0)
    except ValueError:
        return text.strip('"')


def changes(keys):
    return [f"{key}={text_of(value)}" for key, value in (keys or {}).items()]
