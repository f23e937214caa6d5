// Elements in one line: h('label', {class: 'field', onclick() {…}}, 'text', child).
export function h(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
        else if (value === true) element.setAttribute(key, '');
        else if (value != null && value !== false) element.setAttribute(key, value);
    }
    element.append(
        ...children.filter((child) => child != null && child !== false && child !== ''),
    );
    return element;
}

export const byId = (id) => document.getElementById(id);

const GRID = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    PageUp: [-16, 0],
    PageDown: [16, 0],
    Home: [0, -Infinity],
    End: [0, Infinity],
};

export const isModified = ({ctrlKey, metaKey, altKey}) => ctrlKey || metaKey || altKey;

// How a key moves in rows and columns, [down, right]; undefined of other keys.
export const gridMove = (event) => (isModified(event) ? undefined : GRID[event.key]);

// Follow a link within the page, by `go`; into another tab the browser does.
export const within = (go) => (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go();
};

// A spot of a colour, beside what it means.
export function swatchOf(kind, colour) {
    const swatch = h('span', {class: kind, 'aria-hidden': 'true'});
    swatch.style.background = colour;
    return swatch;
}
