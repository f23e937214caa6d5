// A context as that of a canvas which records SVG elements: what draws a picture on the screen
// also draws it into a file. It knows what the drawings of this page use. A canvas offers that
// by `canvas.redraw = (context) => …`.
const SVG = 'http://www.w3.org/2000/svg';
// of the font's size, below the point
const BASELINES = {top: 0.8, middle: 0.35, alphabetic: 0, bottom: -0.2};
const ANCHORS = {left: 'start', start: 'start', center: 'middle', right: 'end', end: 'end'};
const STATE = [
    'matrix',
    'group',
    'fillStyle',
    'strokeStyle',
    'lineWidth',
    'font',
    'textAlign',
    'textBaseline',
    'globalAlpha',
    'dashes',
];

// where nothing is loaded, not even what is embedded
const sheet = document.implementation.createDocument(SVG, 'svg');

export function vector(name, attributes = {}, ...children) {
    const element = sheet.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes))
        if (value != null)
            element.setAttribute(
                key,
                typeof value === 'number' ? Number(value.toFixed(3)) : value,
            );
    element.append(...children);
    return element;
}

const scratch = document.createElement('canvas').getContext('2d');
export function textWidth(text, font) {
    scratch.font = font;
    return scratch.measureText(text);
}

const fontOf = (font) => {
    const [, weight, size, family] = /^(?:(\d+|bold) )?([\d.]+)px (.*)$/.exec(font);
    return {'font-size': Number(size), 'font-family': family, 'font-weight': weight};
};

let clips = 0; // names of clip paths are unique on the page, and so in a file

export class Recorder {
    constructor() {
        this.root = vector('g');
        Object.assign(this, {
            group: this.root,
            matrix: new DOMMatrix(),
            saved: [],
            path: '',
            dashes: [],
            fillStyle: '#000',
            strokeStyle: '#000',
            lineWidth: 1,
            font: '10px sans-serif',
            textAlign: 'start',
            textBaseline: 'alphabetic',
            globalAlpha: 1,
        });
    }
    // ---- state ----
    save() {
        this.saved.push(Object.fromEntries(STATE.map((name) => [name, this[name]])));
    }
    restore() {
        Object.assign(this, this.saved.pop());
    }
    setTransform(...values) {
        this.matrix = new DOMMatrix(values);
    }
    translate(x, y) {
        this.matrix = this.matrix.translate(x, y);
    }
    rotate(angle) {
        this.matrix = this.matrix.rotate((angle * 180) / Math.PI);
    }
    setLineDash(dashes) {
        this.dashes = dashes;
    }
    clearRect() {} // nothing has been drawn
    measureText(text) {
        return textWidth(text, this.font);
    }
    // ---- drawing ----
    add(name, attributes, matrix = this.matrix, ...children) {
        const transform = matrix?.isIdentity === false ? String(matrix) : null;
        const opacity = this.globalAlpha < 1 ? this.globalAlpha : null;
        this.group.append(vector(name, {...attributes, transform, opacity}, ...children));
    }
    get stroked() {
        return {
            fill: 'none',
            stroke: this.strokeStyle,
            'stroke-width': this.lineWidth,
            'stroke-dasharray': this.dashes.join(' ') || null,
        };
    }
    fillRect(x, y, width, height) {
        this.add('rect', {x, y, width, height, fill: this.fillStyle});
    }
    strokeRect(x, y, width, height) {
        this.add('path', {d: `M${x} ${y}h${width}v${height}h${-width}z`, ...this.stroked});
    }
    beginPath() {
        this.path = '';
    }
    moveTo(x, y) {
        this.path += `M${x} ${y}`;
    }
    lineTo(x, y) {
        this.path += `${this.path ? 'L' : 'M'}${x} ${y}`;
    }
    closePath() {
        this.path += 'z';
    }
    rect(x, y, width, height) {
        this.path += `M${x} ${y}h${width}v${height}h${-width}z`;
    }
    arc(x, y, radius, from, to, backwards = false) {
        const at = (angle) => `${x + radius * Math.cos(angle)} ${y + radius * Math.sin(angle)}`;
        const sweep = backwards ? 0 : 1,
            turn = Math.abs(to - from);
        // two arcs: one cannot end where it begins
        const middle = from + ((backwards ? -1 : 1) * Math.min(turn, 2 * Math.PI)) / 2;
        this.path += `${this.path ? 'L' : 'M'}${at(from)}`;
        for (const angle of [middle, to])
            this.path += `A${radius} ${radius} 0 0 ${sweep} ${at(angle)}`;
    }
    fill() {
        this.add('path', {d: this.path, fill: this.fillStyle});
    }
    stroke() {
        this.add('path', {d: this.path, ...this.stroked});
    }
    clip() {
        const id = `clip-${clips++}`;
        this.group.append(
            vector(
                'clipPath',
                {id},
                vector('path', {d: this.path, transform: String(this.matrix)}),
            ),
        );
        this.group = this.group.appendChild(vector('g', {'clip-path': `url(#${id})`}));
    }
    fillText(text, x, y) {
        const font = fontOf(this.font);
        this.add(
            'text',
            {
                x,
                y: y + BASELINES[this.textBaseline] * font['font-size'],
                ...font,
                fill: this.fillStyle,
                'text-anchor': ANCHORS[this.textAlign],
            },
            this.matrix,
            text,
        );
    }
    // ---- pictures ----
    drawImage(canvas, x, y, width = canvas.width, height = canvas.height) {
        this.add('image', {...imageOf(canvas), x, y, width, height});
    }
    putImageData(image, x, y) {
        const canvas = document.createElement('canvas');
        Object.assign(canvas, {width: image.width, height: image.height});
        canvas.getContext('2d').putImageData(image, 0, 0);
        this.add(
            'image',
            {...imageOf(canvas), x, y, width: image.width, height: image.height},
            null,
        );
    }
}

export const imageOf = (canvas) => ({
    href: canvas.toDataURL(),
    preserveAspectRatio: 'none',
    'image-rendering': 'pixelated',
});
