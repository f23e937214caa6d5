// What is shown, in words: the scheme, its formula and the values in it, and where it comes
// from.
import {namesIn, typeset} from './formula.js';
import {h} from './dom.js';

const LONGEST = 24; // characters of a value

export const cut = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

// The parameters that stand in the formula, with their values: [{name, texts: one for each
// table}].
function valuesIn(tables) {
    const [{scheme}] = tables;
    const names = namesIn(scheme.formula);
    return scheme.parameters
        .filter(({name}) => names.has(name))
        .map(({name}) => ({name, texts: tables.map(({effective}) => effective[name])}))
        .filter(({texts}) => texts.every((text) => text != null));
}

function valueOf({name, texts}) {
    const [left, right = left] = texts;
    const told =
        left === right
            ? [cut(left)]
            : [
                  h('span', {class: 'side-a'}, `A ${cut(left)}`),
                  ', ',
                  h('span', {class: 'side-b'}, `B ${cut(right)}`),
              ];
    return h('span', {class: 'value'}, h('code', {}, name), ' = ', ...told);
}

function describe(tables, mark) {
    const [{scheme}] = tables;
    return h(
        'div',
        {class: 'about-scheme'},
        h(
            'p',
            {class: 'about-line'},
            mark && h('span', {class: `side-${mark.toLowerCase()}`}, `${mark}: `),
            h('strong', {}, scheme.title),
            ' ',
            h('span', {class: 'about-summary'}, scheme.summary),
        ),
        h(
            'p',
            {class: 'formula'},
            h(
                'span',
                {class: 'equations', tabindex: 0, role: 'group', 'aria-label': 'Formula'},
                ...typeset(scheme.formula),
            ),
            ' ',
            h('span', {class: 'values'}, ...valuesIn(tables).map(valueOf)),
        ),
    );
}

const sources = (scheme) => [
    h(
        'p',
        {},
        h('strong', {}, `${scheme.title}. `),
        `Convention: ${scheme.convention}. Reference: ${scheme.reference}.`,
    ),
];

// Fills a section; show(tables) is called with what is on the screen.
export function createAbout(section) {
    let shown = '';
    return {
        show(tables) {
            const key = JSON.stringify(
                tables.map(({scheme, effective}) => [scheme.name, effective]),
            );
            if (key === shown) return;
            shown = key;
            const alike = tables.every(({scheme}) => scheme === tables[0].scheme);
            const open = section.querySelector('details')?.open;
            const parts = alike
                ? [describe(tables)]
                : tables.map((table, i) => describe([table], 'AB'[i]));
            const schemes = [...new Set(tables.map(({scheme}) => scheme))];
            section.replaceChildren(
                ...parts,
                h(
                    'details',
                    {class: 'sources', open},
                    h('summary', {}, 'Conventions and reference'),
                    ...schemes.flatMap(sources),
                ),
            );
        },
    };
}
