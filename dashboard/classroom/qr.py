"""A link as a picture for the camera of a phone."""

import segno


def qr_picture(link: str) -> str:
    """Dark on white whatever the page looks like, with the quiet border that readers need."""
    picture = segno.make(link, error="m", micro=False)
    source = picture.svg_data_uri(border=3, light="#fff", omitsize=True)
    return f'<img class="qr" src="{source}" alt="QR code: opens the class on a phone">'
