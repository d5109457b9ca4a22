// Saves what is seen of the timeline as a picture, for reports: SVG or PNG.
"use strict";

// Has the methods and properties of a canvas that drawAll() uses, and writes SVG. All clips are
// rectangles, so that rectangles are cut before they are written.
class SvgPen {
  // `canvasPen` measures texts and reads colours.
  constructor(width, height, canvasPen) {
    this.canvasPen = canvasPen;
    this.size = {width, height};
    this.elements = [];
    this.saved = [];
    this.box = {left: 0, top: 0, right: width, bottom: height};
    this.globalAlpha = 1;
    this.lineWidth = 1;
  }

  save() { this.saved.push({box: this.box, globalAlpha: this.globalAlpha}); }
  restore() { Object.assign(this, this.saved.pop()); }
  beginPath() {}
  rect(x, y, width, height) {
    this.path = {left: x, top: y, right: x + width, bottom: y + height};
  }
  clip() { this.box = this.cut(this.path); }
  cut({left, top, right, bottom}) {
    return {left: Math.max(left, this.box.left), top: Math.max(top, this.box.top),
            right: Math.min(right, this.box.right), bottom: Math.min(bottom, this.box.bottom)};
  }

  fillRect(x, y, width, height) {
    const {left, top, right, bottom} = this.cut({left: x, top: y, right: x + width, bottom: y + height});
    if (right <= left || bottom <= top) return;
    const alpha = this.globalAlpha === 1 ? "" : ` fill-opacity="${this.globalAlpha}"`;
    this.elements.push(`<rect x="${round(left)}" y="${round(top)}" width="${round(right - left)}" ` +
                       `height="${round(bottom - top)}" fill="${this.colourOf(this.fillStyle)}"${alpha}/>`);
  }
  strokeRect(x, y, width, height) {
    this.elements.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}" ` +
                       `fill="none" stroke="${this.colourOf(this.strokeStyle)}" stroke-width="${this.lineWidth}"/>`);
  }
  // An svg element within the picture cuts what lies outside of it.
  fillText(text, x, y, most) {
    const {left, top, right, bottom} = this.box;
    if (right <= left || bottom <= top) return;
    this.canvasPen.font = this.font;
    const isLong = most !== undefined && this.canvasPen.measureText(text).width > most;
    this.elements.push(
        `<svg x="${round(left)}" y="${round(top)}" width="${round(right - left)}" height="${round(bottom - top)}">` +
        `<text x="${round(x - left)}" y="${round(y - top)}" fill="${this.colourOf(this.fillStyle)}"` +
        (isLong ? ` textLength="${round(most)}" lengthAdjust="spacingAndGlyphs"` : "") +
        `>${escaped(text)}</text></svg>`);
  }

  // Returns the colour as #rrggbb, which every reader of SVG knows.
  colourOf(text) {
    this.canvasPen.fillStyle = text.trim();
    return this.canvasPen.fillStyle;
  }
  text() {
    const {width, height} = this.size;
    return `<svg xmlns="${kSvg}" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
        `font-family="system-ui, sans-serif" font-size="12" dominant-baseline="middle">\n` +
        this.elements.join("\n") + "\n</svg>\n";
  }
}
// The name of the format. It is no address that is read.
const kSvg = ["http:", "", "www.w3.org", "2000", "svg"].join("/");

const round = (number) => Math.round(number * 100) / 100;
// Characters that XML cannot hold are replaced.
function escaped(text) {
  const names = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"};
  return text.replace(/[&<>"]/g, (letter) => names[letter])
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "\ufffd");
}

function svgOfView() {
  const pen = new SvgPen(canvas.clientWidth, lines.height, document.createElement("canvas").getContext("2d"));
  drawAll(pen);
  return pen.text();
}

function saveSvg() {
  save(new Blob([svgOfView()], {type: "image/svg+xml"}), "timeline.svg");
}
function savePng() {
  draw();  // what was asked for last may not be drawn yet
  canvas.toBlob((blob) => save(blob, "timeline.png"), "image/png");
}
function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);  // browsers may read it later
}
