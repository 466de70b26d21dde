"""Strings that would do something in a page if they were not escaped."""

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style><script>x</script>",
    "</title></svg>",
    "&lt;b&gt;&amp;",
    "\u202eabc\u0000\x1b[31m",
    "]]>--><!--",
)
