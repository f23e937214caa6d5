// A typeset formula has the symbols of its text, in their order and grouped alike: both are
// read here as lists of symbols, for all schemes.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {partsOf} from '../../server/visualiser/formula.js';
import {schemes} from './harness.js';

const OPENING = {'(': ')', '[': ']', '{': '}'};
const SAID = {
    '\\cdot': '*',
    '\\to': '->',
    '\\ldots': '…',
    '\\le': '<=',
    '\\ge': '>=',
    '&': ',',
    '\\\\': ',',
};
const SILENT = /^(\\(left|right|mathrm|operatorname|mathbin|,|frac|row)|_|\s+)$/;
const TOKEN = /\\\\|\\[a-zA-Z]+|\\,|->|<=|>=|\.\.\.|\d+(?:\.\d+)?|[a-zA-Z]+|\p{L}|\s+|./gu;

// {symbols, groups: "from-to" of all that stands in brackets}, of a list of tokens.
function read(tokens) {
    const symbols = [],
        groups = new Set(),
        open = [];
    for (const token of tokens) {
        if (token in OPENING) open.push({from: symbols.length, closing: OPENING[token]});
        else if (token === open.at(-1)?.closing)
            groups.add(`${open.pop().from}-${symbols.length}`);
        else if (token !== '') symbols.push(token);
    }
    assert.equal(open.length, 0, 'what is opened is closed');
    return {symbols, groups};
}

function readText(text) {
    const tokens = text.match(TOKEN).filter((token) => !/^[\s_]+$/.test(token));
    return read(tokens.map((token) => (token === '.' ? '*' : token === '...' ? '…' : token)));
}

const HIDDEN = '{}'; // braces that nobody sees
const row = (cells) => `\\row{${cells.split('\\\\').join('},\\row{')}}`;

// Braces group what a reader sees together: above and below a bar, higher or lower than the
// line, below a root and in the rows of a matrix. The parts of a fraction have a slash between.
function readTex(tex) {
    const plain = tex
        .replace(/\\htmlData\{symbol=[^}]*\}/g, '')
        .replace(/\{\}\^\{\\prime\}/g, "'")
        .replace(
            /\\begin\{pmatrix\}(.*?)\\end\{pmatrix\}/g,
            (_, cells) => `\\row{${row(cells)}}`,
        )
        .replace(/\\_/g, '_');
    const tokens = [],
        open = [];
    let last = '';
    for (const token of plain.match(TOKEN)) {
        if (token.trim() === '') continue;
        if (token === '{') {
            const above = last === '\\frac';
            const seen = above || /^(\^|_|\\sqrt|\\row|slash)$/.test(last);
            open.push({above, seen});
            if (seen) tokens.push('{');
        } else if (token === '}') {
            const {above, seen} = open.pop();
            if (seen) tokens.push('}');
            if (above) tokens.push('/');
            last = above ? 'slash' : HIDDEN;
            continue;
        } else if (!SILENT.test(token)) tokens.push(SAID[token] ?? token.replace(/^\\/, ''));
        last = token;
    }
    return read(tokens);
}

function assertAlike(source, tex) {
    const [text, typeset] = [readText(source), readTex(tex)];
    assert.deepEqual(typeset.symbols, text.symbols, `${source} is typeset as ${tex}`);
    for (const group of text.groups)
        assert.ok(typeset.groups.has(group), `${source}: ${group} is no group of ${tex}`);
}

test('every formula is typeset symbol by symbol', () => {
    let count = 0;
    for (const {name, formula} of schemes)
        for (const part of partsOf(formula)) {
            if (typeof part === 'string') continue;
            count++;
            assert.doesNotThrow(() => assertAlike(part.source, part.tex), name);
        }
    assert.ok(count > 3 * schemes.length, `${count} runs of mathematics`);
});

test('a lost bar, sign or bracket is seen', () => {
    const [{source, tex}] = partsOf('8 * |d| / (p - 1)');
    assertAlike(source, tex);
    for (const lost of [/\|/g, / - 1/, /\\frac/, /8/])
        assert.throws(() => assertAlike(source, tex.replace(lost, '')), String(lost));
    const [power] = partsOf('(a + b)^(c - d)');
    assertAlike(power.source, power.tex);
    assert.throws(() => assertAlike(power.source, power.tex.replace(/[()]/g, '')));
    assert.throws(() => assertAlike(power.source, 'a + b^{c - d}'));
});
