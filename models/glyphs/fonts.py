"""Which fonts are used, and on which side of the split.

The split is by *family*, and families that share a design share a side:
Liberation Sans, FreeSans, TeX Gyre Heros and Switzera are all drawings of the
same grotesque, so they may only appear together.  For the same reason Noto Sans
and Carlito are absent (they descend from Open Sans and Lato, which are held
back), and so is Averia, which is an average over a whole web-font library.
"""

import fnmatch
import os
from dataclasses import dataclass

# Weights and cuts that stop being legible at 32x32, or that do not draw the
# plain character (outlines, small capitals, titling and display variants).
EXCLUDED = ("thin", "hairline", "extralight", "ultralight", "outline", "math",
            "smallcaps", "caps", "lmmonolt", "linbiolinum_k", "linlibertine_m",
            "linlibertine_i.", "monoisome", "alt-", "minus", "display", "script",
            "titling", "style", "heavyitalic")


# Where Debian's font packages install; the TeX fonts have a folder of their own.
FONT_FOLDERS = ("/usr/share/fonts", "/usr/share/texmf/fonts")


@dataclass(frozen=True)
class Family:
    name: str
    package: str     # Debian 12 package that installs it
    patterns: tuple  # file-name globs, in the order the faces are used


def family(name, package, *patterns):
    return Family(name, package, patterns)


TRAINING = (
    family("DejaVu Sans", "fonts-dejavu-extra", "DejaVuSans*.ttf"),
    family("DejaVu Serif", "fonts-dejavu-extra", "DejaVuSerif*.ttf"),
    family("Liberation Sans", "fonts-liberation", "LiberationSans*.ttf"),
    family("Liberation Serif", "fonts-liberation", "LiberationSerif*.ttf"),
    family("Liberation Mono", "fonts-liberation", "LiberationMono*.ttf"),
    family("FreeSans", "fonts-freefont-ttf", "FreeSans*.ttf"),
    family("FreeSerif", "fonts-freefont-ttf", "FreeSerif*.ttf"),
    family("FreeMono", "fonts-freefont-ttf", "FreeMono*.ttf"),
    family("Latin Modern Roman", "fonts-lmodern", "lmroman10-*.otf", "lmroman8-*.otf",
           "lmroman17-*.otf"),
    family("Latin Modern Sans", "fonts-lmodern", "lmsans10-*.otf", "lmsansdemicond10-*.otf"),
    family("Latin Modern Mono", "fonts-lmodern", "lmmono10-*.otf"),
    family("TeX Gyre Adventor", "fonts-texgyre", "texgyreadventor-*.otf"),
    family("TeX Gyre Bonum", "fonts-texgyre", "texgyrebonum-*.otf"),
    family("TeX Gyre Cursor", "fonts-texgyre", "texgyrecursor-*.otf"),
    family("TeX Gyre Heros", "fonts-texgyre", "texgyreheros*.otf"),
    family("TeX Gyre Pagella", "fonts-texgyre", "texgyrepagella-*.otf"),
    family("TeX Gyre Schola", "fonts-texgyre", "texgyreschola-*.otf"),
    family("TeX Gyre Termes", "fonts-texgyre", "texgyretermes-*.otf"),
    family("Roboto", "fonts-roboto-unhinted", "Roboto-*.ttf", "RobotoCondensed-*.ttf"),
    family("Cantarell", "fonts-cantarell", "Cantarell-*.otf"),
    family("Quicksand", "fonts-quicksand", "Quicksand-*.ttf"),
    family("Linux Libertine", "fonts-linuxlibertine", "LinLibertine_*.otf"),
    family("Linux Biolinum", "fonts-linuxlibertine", "LinBiolinum_*.otf"),
    family("Oxygen", "fonts-oxygen", "Oxygen*.ttf"),
    family("Tuffy", "fonts-tuffy", "Tuffy*.ttf"),
    family("Play", "fonts-play", "Play-*.ttf"),
    family("Junicode", "fonts-junicode", "JunicodeTwoBeta-Regular.otf",
           "JunicodeTwoBeta-Bold.otf", "JunicodeTwoBeta-Italic.otf",
           "JunicodeTwoBeta-BoldItalic.otf", "JunicodeTwoBeta-Expanded*.otf"),
    family("Jura", "fonts-jura", "Jura-*.otf"),
    family("Dosis", "fonts-dosis", "Dosis-*.otf"),
    family("Fanwood", "fonts-fanwood", "Fanwood*.otf"),
    family("Goudy Bookletter 1911", "fonts-goudybookletter", "GoudyBookletter1911.otf"),
    family("Hermit", "fonts-hermit", "Hermit-*.otf"),
    family("Junction", "fonts-junction", "Junction.otf"),
    family("Karla", "fonts-karla", "Karla-*.otf"),
    family("Old Standard", "fonts-oldstandard", "OldStandard-*.ttf"),
    family("Prociono", "fonts-prociono", "Prociono.otf"),
    family("Sora", "fonts-sora", "Sora-*.otf"),
    family("Yanone Kaffeesatz", "fonts-yanone-kaffeesatz", "YanoneKaffeesatz-*.otf"),
    family("Monofur", "fonts-monofur", "monof5*.ttf"),
    family("Monoid", "fonts-monoid", "Monoid-*.ttf"),
    family("Anonymous Pro", "fonts-anonymous-pro", "Anonymous Pro*.ttf"),
    family("Accanthis", "fonts-adf-accanthis", "AccanthisADFStd-*.otf",
           "AccanthisADFStdNo3-*.otf"),
    family("Gillius", "fonts-adf-gillius", "GilliusADF*.otf"),
    family("Universalis", "fonts-adf-universalis", "UniversalisADFStd-*.otf"),
    family("Romande", "fonts-adf-romande", "RomandeADFStd-*.otf", "RomandeADFNo2Std-*.otf"),
    family("Baskervald", "fonts-adf-baskervald", "BaskervaldADFStd*.otf"),
    family("Berenis", "fonts-adf-berenis", "BerenisADFPro-*.otf"),
    family("Libris", "fonts-adf-libris", "LibrisADFStd-*.otf"),
    family("Mekanus", "fonts-adf-mekanus", "MekanusADFStd-*.otf"),
    family("Verana", "fonts-adf-verana", "Verana*.otf"),
    family("Switzera", "fonts-adf-switzera", "SwitzeraADF-*.otf"),
    family("PT Sans", "fonts-paratype", "PTS*.ttf", "PTN*.ttf", "PTC*.ttf"),
    family("PT Serif", "fonts-paratype", "PTF*.ttf", "PTZ*.ttf"),
    family("PT Mono", "fonts-paratype", "PTM*.ttf"),
    family("Inter", "fonts-inter", "Inter-*.otf"),
    family("League Mono", "fonts-league-mono", "LeagueMono-*.otf"),
    family("League Spartan", "fonts-league-spartan", "LeagueSpartan-*.otf"),
    family("Essays 1743", "fonts-essays1743", "Essays1743*.ttf"),
    family("GFS Didot", "fonts-gfs-didot", "GFSDidot*.otf"),
    family("GFS Neohellenic", "fonts-gfs-neohellenic", "GFSNeohellenic*.otf"),
    family("GFS Artemisia", "fonts-gfs-artemisia", "GFSArtemisia*.otf"),
    family("Fantasque Sans Mono", "fonts-fantasque-sans", "FantasqueSansMono-*.ttf"),
    family("Humor Sans", "fonts-humor-sans", "Humor-Sans.ttf"),
)

# Never trained on; used to choose the epoch and to compare settings.
VALIDATION = (
    family("Clear Sans", "fonts-clear-sans", "ClearSans-*.ttf"),
    family("B612", "fonts-b612", "B612-*.otf", "B612Mono-*.otf"),
    family("Charis SIL", "fonts-sil-charis", "CharisSIL-*.ttf"),
    family("Andika", "fonts-sil-andika", "Andika-*.ttf"),
    family("Caladea", "fonts-crosextra-caladea", "Caladea-*.ttf"),
    family("Mononoki", "fonts-mononoki", "mononoki-*.ttf"),
    family("Go", "fonts-go", "Go-*.ttf"),
    family("Tribun", "fonts-adf-tribun", "TribunADFStd-*.otf"),
)

# Never trained on and never used for a choice; measured once, at the end.
# At most three faces each, so that no family dominates the held-back set.
HELDBACK = (
    family("Lato", "fonts-lato", "Lato-Regular.ttf", "Lato-Bold.ttf", "Lato-Italic.ttf"),
    family("Open Sans", "fonts-open-sans", "OpenSans-Regular.ttf", "OpenSans-Bold.ttf",
           "OpenSans-Italic.ttf"),
    family("Cabin", "fonts-cabin", "Cabin-Regular.otf", "Cabin-Bold.otf", "Cabin-Italic.otf"),
    family("Comic Neue", "fonts-comic-neue", "ComicNeue-Regular.otf", "ComicNeue-Bold.otf",
           "ComicNeue-Italic.otf"),
    family("EB Garamond", "fonts-ebgaramond", "EBGaramond12-Regular.otf",
           "EBGaramond12-Bold.otf", "EBGaramond12-Italic.otf"),
    family("Vollkorn", "fonts-vollkorn", "Vollkorn-Regular.ttf", "Vollkorn-Bold.ttf",
           "Vollkorn-Italic.ttf"),
    family("Gentium", "fonts-sil-gentium", "Gentium-R.ttf", "Gentium-I.ttf"),
    family("Fira Code", "fonts-firacode", "FiraCode-Regular.ttf", "FiraCode-Bold.ttf",
           "FiraCode-Light.ttf"),
    family("JetBrains Mono", "fonts-jetbrains-mono", "JetBrainsMono-Regular.ttf",
           "JetBrainsMono-Bold.ttf", "JetBrainsMono-Italic.ttf"),
    family("Inconsolata", "fonts-inconsolata", "Inconsolata.otf"),
)


def index_fonts(roots):
    """Map file name -> path for every font file under the folders `roots`.

    Some packages install one face several times; the first path in sorted order
    wins, so that the result does not depend on the directory order on disk.
    """
    found = {}
    for root in roots:
        for folder, subfolders, files in os.walk(root):
            subfolders.sort()
            for name in sorted(files):
                if name.lower().endswith((".ttf", ".otf")):
                    found.setdefault(name, os.path.join(folder, name))
    return found


def faces_of(wanted, index):
    """Paths of the usable faces of one family, or an error naming its package."""
    names = []
    for pattern in wanted.patterns:
        for name in sorted(fnmatch.filter(index, pattern)):
            if name not in names and not any(word in name.lower() for word in EXCLUDED):
                names.append(name)
    if not names:
        raise SystemExit(f"no font file of '{wanted.name}' found: "
                         f"apt-get install {wanted.package}")
    return [index[name] for name in names]
