// What is shown, in words: the scheme, its formula and the values in it, and where it comes
// from.
import {h} from './dom.js';
import {namesIn, partsOf, texOf, withoutNeutral} from './formula.js';
import {connectSymbols, symbolsIn} from './symbols.js';
import {typesetLater} from './typeset.js';

const LONGEST = 24; // characters of a value

export const cut = (text) => (text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);

// Names of parameters that change nothing at their default, {name: '1' or '0'}.
function neutralIn(tables) {
    const [{scheme}] = tables;
    return Object.fromEntries(
        scheme.parameters
            .map(({name, default: standard}) => [name, String(standard)])
            .filter(
                ([name, standard]) =>
                    ['0', '1'].includes(standard) &&
                    tables.every(({effective}) => effective[name] === standard),
            ),
    );
}

// "base = 10000", and of two tables "base = A 10000, B 500".
function valueOf(name, texts) {
    const [left, right = left] = texts;
    const told =
        left === right
            ? [cut(left)]
            : [
                  h('span', {class: 'side-a'}, `A ${cut(left)}`),
                  ', ',
                  h('span', {class: 'side-b'}, `B ${cut(right)}`),
              ];
    return [h('code', {}, name), ' = ', ...told];
}

// What a symbol stands for, in the list below the formula; null of a parameter without a value.
function legendOf({name, meaning, part, parameter}, tables) {
    const texts = tables.map(({effective}) => effective[name]);
    if (parameter && texts.some((text) => text == null)) return null;
    const told = parameter
        ? valueOf(name, texts)
        : [typesetLater(h('span', {class: 'math'}, name), texOf(name)), ` ${meaning}`];
    return h(
        'span',
        {
            class: parameter ? 'value' : 'meaning',
            'data-symbol': name,
            'data-part': part,
            title: meaning,
        },
        ...told,
    );
}

function equationsOf(formula) {
    return partsOf(formula).map((part) =>
        typeof part === 'string'
            ? part
            : typesetLater(
                  h('span', {class: 'math', 'data-source': part.source}, part.source),
                  part.tex,
              ),
    );
}

// A paper by its number, as a link; all else as it is.
const linked = (reference) =>
    reference.split(/(arXiv:\d{4}\.\d{4,5}|kexue\.fm\/[\w/]+)/).map((part, i) =>
        i % 2 === 0
            ? part
            : h(
                  'a',
                  {
                      href: part.startsWith('arXiv:')
                          ? `https://arxiv.org/abs/${part.slice(6)}`
                          : `https://${part}`,
                      rel: 'noopener noreferrer',
                      target: '_blank',
                  },
                  part,
              ),
    );

function describe(tables, mark) {
    const [{scheme}] = tables;
    const neutral = neutralIn(tables);
    const formula = withoutNeutral(scheme.formula, neutral);
    const left = namesIn(formula);
    const symbols = symbolsIn(scheme).filter(({name}) => left.has(name));
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
                ...equationsOf(formula),
            ),
        ),
        h(
            'p',
            {class: 'values'},
            ...symbols.map((symbol) => legendOf(symbol, tables)).filter(Boolean),
        ),
    );
}

const sources = (scheme) => [
    h(
        'p',
        {},
        h('strong', {}, `${scheme.title}. `),
        `Convention: ${scheme.convention}. Reference: `,
        ...linked(scheme.reference),
        '.',
    ),
];

// Fills a section; show(tables) is called with what is on the screen.
export function createAbout(section) {
    let shown = '';
    connectSymbols(section);
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
