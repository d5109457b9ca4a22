"""Draws 32x32 grey pictures of characters.

Two stages.  `load_glyphs` draws every character of every face once, large and
undistorted.  `render` then turns those masters into as many distorted pictures
as wanted; training draws a fresh set each epoch, so that the network never sees
the same picture twice.
"""

import math
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from fonts import faces_of

# No O, I or Q (look like 0, 1 and 0) and no lower case (twins such as c/C differ
# only in size, which the renderer deliberately varies).
CLASSES = "0123456789ABCDEFGHJKLMNPRSTUVWXYZ&?#%+@$"

SIZE = 32         # pictures handed to the network
MASTER = 96       # undistorted drawings
MASTER_INK = 64   # longest side of the ink inside a master
OVERSAMPLE = 2    # distortion happens at 64x64, then a box filter halves it


@dataclass(frozen=True)
class Distortion:
    """Half-ranges of uniform draws, unless a pair (low, high) is given."""
    rotation: float        # degrees
    shear: float           # horizontal shift per unit of height
    aspect: float          # relative width change
    ink: tuple             # longest side of the ink, in pixels
    shift: float           # pixels
    blur: tuple            # Gaussian radius, in pixels
    noise: tuple           # standard deviation, 1.0 = black to white
    stroke: float          # probability of a thickened or thinned stroke
    paper: tuple           # grey of the background
    ink_grey: tuple        # grey of the character
    slope: float           # brightness change from edge to edge
    inverted: float        # probability of a light character on dark paper


TRAINING = Distortion(rotation=13, shear=0.22, aspect=0.20, ink=(17, 28), shift=2.5,
                      blur=(0.0, 0.9), noise=(0.0, 0.08), stroke=0.4, paper=(0.65, 1.0),
                      ink_grey=(0.0, 0.30), slope=0.15, inverted=0.15)

# What the accuracy is measured on: milder than the training, as usual for
# augmentation, but never a clean picture.
MEASURING = Distortion(rotation=8, shear=0.10, aspect=0.08, ink=(19, 26), shift=1.5,
                       blur=(0.0, 0.6), noise=(0.0, 0.05), stroke=0.2, paper=(0.75, 1.0),
                       ink_grey=(0.0, 0.25), slope=0.08, inverted=0.10)


def load_glyphs(families, font_index):
    """glyphs[family][face][class] = the master drawings of that character.

    Faces that lack one of the characters are left out as a whole: every family
    then offers every class, which keeps the sets balanced without special cases.
    """
    glyphs = []
    for family in families:
        faces = [load_face(path) for path in faces_of(family, font_index)]
        faces = [face for face in faces if face is not None]
        if not faces:
            raise SystemExit(f"'{family.name}' has no face with all the characters")
        glyphs.append(faces)
    return glyphs


def load_face(path):
    font = ImageFont.truetype(path, MASTER_INK)
    missing = character_ink(font, "\uffff")  # a noncharacter: drawn as "no such glyph"
    face = []
    for character in CLASSES:
        ink = character_ink(font, character)
        if ink is None or same_picture(ink, missing):
            return None
        face.append(stroke_variants(master_of(path, character)))
    return face


def character_ink(font, character):
    """The character as a tight grey mask, or None if nothing is drawn."""
    canvas = Image.new("L", (4 * MASTER_INK, 4 * MASTER_INK))
    ImageDraw.Draw(canvas).text((MASTER_INK, MASTER_INK), character, font=font, fill=255)
    box = canvas.getbbox()
    return canvas.crop(box) if box else None


def same_picture(a, b):
    return b is not None and a.size == b.size and a.tobytes() == b.tobytes()


def master_of(path, character):
    """The character with its ink scaled to MASTER_INK, in the middle of a master.

    Scaling by the ink and not by the em makes text figures and large symbols as
    big as capitals: the network is meant to see one character, not a line.
    """
    ink = character_ink(ImageFont.truetype(path, 2 * MASTER_INK), character)
    scale = MASTER_INK / max(ink.size)
    ink = ink.resize([max(1, round(side * scale)) for side in ink.size], Image.LANCZOS)
    master = Image.new("L", (MASTER, MASTER))
    master.paste(ink, ((MASTER - ink.width) // 2, (MASTER - ink.height) // 2))
    return master


def stroke_variants(master):
    """[plain, heavier, lighter]; the lighter one only if the strokes survive it."""
    heavier = master.filter(ImageFilter.MaxFilter(3))
    lighter = master.filter(ImageFilter.MinFilter(3))
    survives = np.asarray(lighter).sum() > 0.7 * np.asarray(master).sum()
    return [master, heavier] + ([lighter] if survives else [])


def place(master, distortion, rng):
    """One distorted mask: rotated, sheared, scaled, shifted and blurred."""
    d = distortion
    angle = math.radians(rng.uniform(-d.rotation, d.rotation))
    shear = rng.uniform(-d.shear, d.shear)
    scale = rng.uniform(*d.ink) * OVERSAMPLE / MASTER_INK
    aspect = 1 + rng.uniform(-d.aspect, d.aspect)
    sx, sy = scale * math.sqrt(aspect), scale / math.sqrt(aspect)
    dx, dy = rng.uniform(-d.shift, d.shift, 2) * OVERSAMPLE

    forward = (np.array([[math.cos(angle), -math.sin(angle)],
                         [math.sin(angle), math.cos(angle)]])
               @ np.array([[1, shear], [0, 1]]) @ np.diag([sx, sy]))
    # Pillow wants the map from the output pixel back to the input pixel.
    (a, b), (c, e) = np.linalg.inv(forward)
    middle = SIZE * OVERSAMPLE / 2
    x0 = MASTER / 2 - a * (middle + dx) - b * (middle + dy)
    y0 = MASTER / 2 - c * (middle + dx) - e * (middle + dy)
    canvas = (SIZE * OVERSAMPLE, SIZE * OVERSAMPLE)
    mask = master.transform(canvas, Image.AFFINE, (a, b, x0, c, e, y0), Image.BILINEAR)
    mask = mask.filter(ImageFilter.GaussianBlur(rng.uniform(*d.blur) * OVERSAMPLE))
    return mask.reduce(OVERSAMPLE)


def shade(masks, distortion, rng):
    """Turn ink masks into grey pictures: paper, ink, uneven light, noise."""
    d, n = distortion, len(masks)

    def draw(low, high):
        return rng.uniform(low, high, (n, 1, 1)).astype(np.float32)

    paper, ink = draw(*d.paper), draw(*d.ink_grey)
    pictures = paper + (ink - paper) * (masks.astype(np.float32) / 255)
    ramp = np.linspace(-0.5, 0.5, SIZE, dtype=np.float32)
    pictures += draw(-d.slope, d.slope) * ramp[None, None, :]
    pictures += draw(-d.slope, d.slope) * ramp[None, :, None]
    flip = rng.random(n) < d.inverted
    pictures[flip] = 1 - pictures[flip]
    pictures += draw(*d.noise) * rng.standard_normal(pictures.shape, dtype=np.float32)
    return (pictures.clip(0, 1) * 255).round().astype(np.uint8)


def pick_variant(variants, distortion, rng):
    if len(variants) > 1 and rng.random() < distortion.stroke:
        return variants[rng.integers(1, len(variants))]
    return variants[0]


def random_set(glyphs, count, distortion, rng):
    """`count` pictures, classes balanced, families equally likely, in random order."""
    labels = rng.permutation(np.arange(count) % len(CLASSES)).astype(np.uint8)
    masks = np.empty((count, SIZE, SIZE), np.uint8)
    for i, label in enumerate(labels):
        faces = glyphs[rng.integers(len(glyphs))]
        variants = faces[rng.integers(len(faces))][label]
        masks[i] = place(pick_variant(variants, distortion, rng), distortion, rng)
    return shade(masks, distortion, rng), labels


def balanced_set(glyphs, per_family, distortion, rng):
    """For every class `per_family` pictures of every family, cycling its faces.

    Returns pictures, labels and, to report on, the family index of each picture.
    """
    masks, labels, families = [], [], []
    for label in range(len(CLASSES)):
        for family, faces in enumerate(glyphs):
            for i in range(per_family):
                variants = faces[i % len(faces)][label]
                master = pick_variant(variants, distortion, rng)
                masks.append(np.asarray(place(master, distortion, rng)))
                labels.append(label)
                families.append(family)
    order = rng.permutation(len(labels))
    pictures = shade(np.stack(masks), distortion, rng)
    return pictures[order], np.array(labels, np.uint8)[order], np.array(families)[order]
