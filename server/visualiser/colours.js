// Palettes that are also readable with colour blindness: blue to orange for differences,
// cividis for amounts. They depend on the theme, since the middle of a diverging palette is the
// background colour.

const DIVERGING = {
    light: ['#08306b', '#2171b5', '#85b8dc', '#f6f5f2', '#f0a860', '#c05d10', '#6b2a00'],
    dark: ['#b9dcff', '#4f9ee3', '#1f5488', '#17191d', '#8a4a12', '#e08a35', '#ffd9ae'],
};
const SEQUENTIAL = [
    '#00224e',
    '#213d6b',
    '#4c556c',
    '#6c6e72',
    '#8e8978',
    '#b5a76a',
    '#dcc84e',
    '#fee838',
];
const NAMED = {
    light: {
        paper: '#ffffff',
        ink: '#1c1f24',
        quiet: '#5b626c',
        grid: '#d9dce1',
        missing: '#b9bec6',
        flat: '#eef0f3',
        left: '#1f6fb2',
        right: '#b35806',
        mark: '#a3006a',
    },
    dark: {
        paper: '#14161a',
        ink: '#e8eaed',
        quiet: '#a3abb6',
        grid: '#343941',
        missing: '#50565f',
        flat: '#22262d',
        left: '#6cb2f2',
        right: '#f2a154',
        mark: '#ff86cf',
    },
};
// Okabe and Ito's palette, in an order that suits lines on both backgrounds
const CATEGORICAL = {
    light: ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b8860b', '#56b4e9', '#4d4d4d'],
    dark: ['#56b4e9', '#e69f00', '#2dc79a', '#e79ac4', '#f0e442', '#4f9ee3', '#cfcfcf'],
};
const STEPS = 1024;

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// STEPS colours along the points, as the words of an ImageData (little-endian RGBA).
function tableOf(points) {
    const words = new Uint32Array(STEPS);
    for (let i = 0; i < STEPS; i++) {
        const at = (i / (STEPS - 1)) * (points.length - 1);
        const from = Math.min(Math.floor(at), points.length - 2);
        const [r, g, b] = channels(points[from]).map((channel, k) =>
            Math.round(channel + (at - from) * (channels(points[from + 1])[k] - channel)),
        );
        words[i] = (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
    }
    return words;
}

const wordOf = (hex) => {
    const [r, g, b] = channels(hex);
    return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
};

// The colours of a theme, 'light' or 'dark': names, categorical, and the palettes as tables of
// words.
export function coloursOf(theme) {
    return {
        theme,
        ...NAMED[theme],
        categorical: CATEGORICAL[theme],
        // without one of two blues, for many lines at once
        apart: CATEGORICAL[theme].filter((_, i) => i !== 5),
        diverging: tableOf(DIVERGING[theme]),
        sequential: tableOf(SEQUENTIAL),
        missingWord: wordOf(NAMED[theme].missing),
        flatWord: wordOf(NAMED[theme].flat), // of a picture whose values are all the same
        css: (word) => `rgb(${word & 255} ${(word >> 8) & 255} ${(word >> 16) & 255})`,
    };
}

// How values become colours: symmetric about 0 where there are both signs, else from least to
// most. {domain: [from, to], invented: whether the values have no range of their own, words:
// table, word(value)}.
export function scaleOf(colours, extents) {
    const least = Math.min(...extents.map(([from]) => from)),
        most = Math.max(...extents.map(([, to]) => to));
    const signed = least < 0 && most > 0;
    const reach = Math.max(-least, most);
    const domain = signed
        ? [-reach, reach]
        : least === most
          ? [least - 0.5, most + 0.5]
          : [least, most];
    const words = signed ? colours.diverging : colours.sequential;
    const factor = (words.length - 1) / (domain[1] - domain[0]);
    const word = (value) => {
        if (Number.isNaN(value)) return colours.missingWord;
        const i = Math.round((value - domain[0]) * factor);
        return i >= words.length ? words[words.length - 1] : i > 0 ? words[i] : words[0];
    };
    return {domain, invented: least === most, words, word};
}
