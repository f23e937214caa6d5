// What the symbols of a scheme's formula stand for: indices by the axes of the tensors that
// have them, parameters and tensors by the scheme's document, and letters that all formulas
// share.
import {namesIn} from './formula.js';
import {axisTitle, parameterOf} from './schema.js';

const PAIR = 'pair of columns';
// [pattern, meaning, what it is in the picture, how formulas use it so]
const SHARED = [
    [/^k$/, 'position', 'rows', /\bk (\*|\+|-|div)|(=|of) k\b/],
    [/^w_\w$/, 'frequency, in radians per position', 'columns'],
    [/^f_\w$/, 'frequency', 'columns'],
    [/^m_h$/, 'slope of the head', 'values'],
    [/^zeta_i$/, 'how fast a pair shrinks', 'values'],
    [/^d$/, 'distance', 'rows'],
    [/^n$/, 'number of rows', 'rows', /\(n - 1\)/],
    [/^N$/, 'rows of the learned table', 'rows'],
];

// The axes of a documented tensor; formulas may leave out the last ones.
const axesOf = ({shape}) => /\[([^\]]*)\]/.exec(shape)[1].split(/,\s*/);
const GRID = {y: 'row of the grid', x: 'column of the grid'};

function titleOfIndex(text, axis, last) {
    if (axis === 'n') return 'row';
    return /\/2$/.test(axis) || (/^dim\b/.test(axis) && /^2/.test(text))
        ? PAIR
        : axisTitle(axis, last);
}

// Map of the letters that stand in the brackets of a tensor: {meaning, part}.
function indicesIn({formula, tensors}) {
    const found = new Map();
    for (const [, name, inside] of formula.matchAll(/(\w+)\[([^[\]]*)\]/g)) {
        const tensor = tensors.find((each) => each.name === name);
        const texts = inside.split(/,\s*/);
        const axes = tensor && axesOf(tensor);
        texts.forEach((text, at) => {
            const [letter] = /(?<![a-z_])[a-z](?![a-z_])/.exec(text) ?? [];
            if (!axes?.[at] || !letter || found.has(letter)) return;
            const last = at > 0 && at === axes.length - 1;
            const part = ['columns', 'rows', 'planes'][axes.length - 1 - at] ?? 'planes';
            found.set(letter, {
                meaning: GRID[letter] ?? titleOfIndex(text, axes[at], last),
                part: axes.length === 1 || letter in GRID ? 'rows' : part,
            });
        });
    }
    return found;
}

const firstClause = (help) => help.split(/[;:(]|,(?! then)| of \w+ \*/)[0].trim();

// Whether a tensor's help is a formula again.
const isFormula = (help) => /^\w+\(|^[^;:,]* \*/.test(help) && !/^[a-z]+s /.test(help);

// [{name, meaning, part: 'rows', 'columns', 'values' or 'planes' of the picture}], of
// parameters with `parameter` instead of a part; in the order of the formula.
export function symbolsIn(scheme) {
    const indices = indicesIn(scheme);
    return [...namesIn(scheme.formula)].flatMap(([name, isWord]) => {
        const parameter = parameterOf(scheme, name);
        if (parameter) return [{name, meaning: firstClause(parameter.help), parameter}];
        if (indices.has(name)) return [{name, ...indices.get(name)}];
        const tensor = [name, name.replace(/_h$/, '')]
            .map((wanted) => scheme.tensors.find((each) => each.name === wanted))
            .find(Boolean);
        if (tensor && (isWord || isFormula(tensor.help))) return [];
        if (tensor && !/^(sin|cos)$/.test(name))
            return [{name, meaning: firstClause(tensor.help), part: 'values'}];
        const [, meaning, part] =
            SHARED.find(
                ([pattern, , , use]) =>
                    pattern.test(name) && (!use || use.test(scheme.formula)),
            ) ?? [];
        return meaning ? [{name, meaning, part}] : [];
    });
}

// Lights what a symbol of `section` stands for while the pointer, or the focus, is on it: the
// same symbol elsewhere, its field, or its part of the picture (see style.css).
export function connectSymbols(section) {
    let lit = [];
    function light(symbol) {
        for (const each of lit) each.classList.remove('lit');
        lit = [];
        delete document.body.dataset.lit;
        if (!symbol) return;
        const {symbol: name} = symbol.dataset;
        const alike = [...section.querySelectorAll('[data-symbol]')].filter(
            ({dataset}) => dataset.symbol === name,
        );
        const fields = ['left', 'right'].map((side) =>
            document.getElementById(`${side}-${name}`)?.closest('.field'),
        );
        lit = [...alike, ...fields.filter(Boolean)];
        for (const each of lit) each.classList.add('lit');
        const part = alike.map(({dataset}) => dataset.part).find(Boolean);
        if (part) document.body.dataset.lit = part;
    }
    for (const kind of ['pointerover', 'focusin'])
        section.addEventListener(kind, ({target}) => light(target.closest('[data-symbol]')));
    for (const kind of ['pointerleave', 'focusout'])
        section.addEventListener(kind, () => light(null));
}
