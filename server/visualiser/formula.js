// A scheme's formula, which is plain text with words between, as text and TeX, which math.js
// typesets. What cannot be read as mathematics stays text.
const GREEK = new Set([
    'alpha',
    'beta',
    'gamma',
    'epsilon',
    'theta',
    'zeta',
    'omega',
    'pi',
    'sigma',
]);
const FUNCTIONS = new Set([
    'sin',
    'cos',
    'tan',
    'exp',
    'ln',
    'log',
    'sqrt',
    'min',
    'max',
    'clip',
    'floor',
    'ceil',
    'div',
    'mod',
]);
const TEX_FUNCTIONS = new Set(['sin', 'cos', 'tan', 'exp', 'ln', 'log', 'min', 'max']);
const SIGNS = {
    '*': '\\cdot ',
    '->': '\\to ',
    '...': '\\ldots ',
    '…': '\\ldots ',
    '<=': '\\le ',
    '>=': '\\ge ',
    '|': '|',
};
const OPERATORS = new Set([
    '=',
    '+',
    '-',
    '*',
    '/',
    '^',
    '|',
    '->',
    '...',
    '…',
    '<=',
    '>=',
    '<',
    '>',
]);
const CLOSING = {'(': ')', '[': ']'};
const SHORT_INDEX = 14; // characters of an index that may stand below a name
const TOKEN =
    /(\d+(?:\.\d+)?)|(\p{L}+'\p{L}+|\p{L}[\p{L}\d]*(?:_[\p{L}\d]+)*'?)|(\.\.\.|->|<=|>=|_(?=\()|\S)/gu;

// {text, kind: 'number' | 'name' | 'sign', start, end, spaced: whether a space comes before it}
function tokensOf(text) {
    let end = 0;
    return [...text.matchAll(TOKEN)].map(({0: all, 1: number, 2: name, index}) => {
        const spaced = index > end;
        end = index + all.length;
        return {
            text: all === '.' && spaced ? '*' : all, // "q . k", not the end of a sentence
            kind: number ? 'number' : name ? 'name' : 'sign',
            start: index,
            end,
            spaced,
        };
    });
}

const isPlain = (text) => !(GREEK.has(text) || FUNCTIONS.has(text) || /[_\d]|'$/.test(text));

// Whether a name is a word of a sentence and not of the mathematics.
function isWord(tokens, i) {
    const {text, kind, spaced} = tokens[i];
    if (kind !== 'name') return false;
    const [before, after] = [tokens[i - 1], tokens[i + 1]];
    const joins = (sign, apart) => OPERATORS.has(sign?.text) && !(sign.text === '|' && apart);
    if (
        !'+-*/'.includes(before?.text ?? ' ') &&
        text.length > 2 &&
        isPlain(text) &&
        after?.kind === 'name' &&
        after.text.length > 1 &&
        isPlain(after.text)
    )
        return true;
    if (
        joins(before, spaced) ||
        joins(after, after?.spaced) ||
        (after && !after.spaced && '([_'.includes(after.text))
    )
        return false;
    return isPlain(text) && (text.length > 1 || text === 'a');
}

// Marks words, and all that stands in brackets with one; but what touches a name is what it is
// applied to.
function markWords(tokens) {
    tokens.forEach((token, i) => {
        token.word = isWord(tokens, i);
    });
    const open = [];
    tokens.forEach(({text}, i) => {
        if (text in CLOSING) open.push(i);
        if (text !== ')' && text !== ']') return;
        const first = open.pop() ?? 0;
        const inside = tokens.slice(first, i + 1);
        const applied = !tokens[first].spaced && tokens[first - 1]?.kind === 'name';
        if (applied || inside.some(({word}) => word))
            for (const token of inside) token.word = !applied;
    });
}

// What has been read: {tex, tall: whether it is higher than a line, inside: what brackets hold,
// or undefined}.
const node = (tex, tall = false, inside = undefined) => ({tex, tall, inside});
const joined = (items) =>
    node(
        items.map(({tex}) => tex).join(' '),
        items.some(({tall}) => tall),
    );

// A group without its brackets, where a fraction or a place above or below shows what belongs
// together.
const bare = ({tex, inside}) => inside ?? tex;

const escaped = (text) => text.replace(/_/g, '\\_').replace(/'$/, '{}^{\\prime}');

// What stands for something has its name, by which the page finds it.
const named = (name, tex) => `\\htmlData{symbol=${name}}{${tex}}`;

// "w_i", "w2" and "R_i" have an index; a long name keeps its underscores.
function nameOf(text) {
    if (/^\p{L}'$/u.test(text)) return node(named(text, escaped(text)));
    const [, head, digits, tail] = /^(\p{L}+?)(\d*)(?:_([\p{L}\d]{1,2}))?$/u.exec(text) ?? [];
    const short = head != null && (head.length <= 2 || GREEK.has(head));
    if (TEX_FUNCTIONS.has(text)) return node(`\\${text}`);
    if (FUNCTIONS.has(text)) return node(`\\operatorname{${text}}`);
    if (!short) return node(named(text, `\\mathrm{${escaped(text)}}`));
    const symbol = GREEK.has(head) ? `\\${head}` : head;
    const index = digits || tail;
    const whole = index
        ? `${symbol}_{${/^\d+$/.test(index) ? index : named(index, index)}}`
        : symbol;
    return node(named(text, whole));
}

// Reads one run of tokens. Its methods return nodes, or arrays of them.
class Reader {
    constructor(tokens) {
        this.tokens = tokens;
        this.next = 0;
    }
    get token() {
        return this.tokens[this.next];
    }
    take() {
        if (!this.token) throw new SyntaxError('the formula ends early');
        return this.tokens[this.next++];
    }
    touches(text) {
        return this.token?.text === text && !this.token.spaced;
    }

    // All up to a closing sign, which is taken.
    row(closing) {
        const items = [];
        while (this.token?.text !== closing) {
            const {text, spaced} = this.token ?? this.take();
            if (text === '/' && spaced && items.length > 0) {
                this.take();
                const above = items.pop();
                items.push(node(`\\frac{${bare(above)}}{${bare(this.factor())}}`, true));
            } else if ((OPERATORS.has(text) && text !== '|') || ',;:'.includes(text)) {
                items.push(node(SIGNS[this.take().text] ?? text));
            } else {
                items.push(this.factor());
            }
        }
        if (closing) this.take();
        return items;
    }

    // [[a, b], [c, d]] is a matrix; all else keeps its brackets.
    group(opening) {
        const closing = CLOSING[opening] ?? opening;
        const first = this.next;
        const {tex, tall} = joined(this.row(closing));
        const matrix = opening === '[' && matrixOf(this.tokens.slice(first, this.next - 1));
        if (matrix) return node(matrix, true);
        const [left, right] = tall ? ['\\left', '\\right'] : ['', ''];
        // bars are no brackets: they stay where a fraction groups
        const inside = opening in CLOSING ? tex : undefined;
        return node(`${left}${opening} ${tex} ${right}${closing}`, tall, inside);
    }

    factor() {
        let whole = this.primary();
        while (this.token?.text === '^' || this.touches('_')) {
            const {text} = this.take();
            const minus = this.token?.text === '-' ? this.take().text : '';
            const place = `${minus}${bare(this.primary())}`;
            whole = node(`{${whole.tex}}${text}{${place}}`, whole.tall);
        }
        return whole;
    }

    primary() {
        const {text, kind} = this.take();
        if (kind === 'number') return node(text);
        if (text === 'div' || text === 'mod') return node(`\\mathbin{\\mathrm{${text}}}`);
        if (text === 'sqrt' && this.touches('('))
            return node(`\\sqrt{${bare(this.group(this.take().text))}}`, true);
        // an operator that is applied to nothing is a number as any other
        if (TEX_FUNCTIONS.has(text) && !this.touches('(') && !this.touches('['))
            return node(`\\,{\\${text}}`);
        if (kind === 'name') return this.applied(nameOf(text));
        if (!(text in CLOSING) && text !== '|')
            throw new SyntaxError(`"${text}" begins nothing`);
        return this.group(text);
    }

    // A name with its arguments or its indices, if any.
    applied(name) {
        if (this.touches('(')) {
            const group = this.group(this.take().text);
            return node(`${name.tex}${group.tex}`, group.tall);
        }
        if (!this.touches('[')) return name;
        const first = this.next;
        const group = this.group(this.take().text);
        const length = this.tokens
            .slice(first, this.next)
            .reduce((sum, {text}) => sum + text.length, 0);
        return length <= SHORT_INDEX && !/_\{/.test(name.tex)
            ? node(`{${name.tex}}_{${bare(group)}}`)
            : node(`${name.tex}${group.tex}`, group.tall);
    }
}

// The TeX of a matrix whose rows are groups with brackets; null of anything else.
function matrixOf(tokens) {
    if (tokens[0]?.text !== '[') return null;
    const reader = new Reader(tokens);
    const rows = [];
    while (reader.token) {
        if (reader.take().text !== '[') return null;
        const cells = [[]];
        while (reader.token && reader.token.text !== ']')
            if (reader.token.text === ',') {
                reader.take();
                cells.push([]);
            } else if (OPERATORS.has(reader.token.text))
                cells.at(-1).push(node(reader.take().text));
            else cells.at(-1).push(reader.factor());
        reader.take();
        if (reader.token && reader.take().text !== ',') return null;
        rows.push(cells.map((cell) => joined(cell).tex).join(' & '));
    }
    return `\\begin{pmatrix} ${rows.join(' \\\\ ')} \\end{pmatrix}`;
}

// A run of mathematics: {tex, source}, or its text if it cannot be read.
function mathOf(tokens, source) {
    try {
        return {tex: joined(new Reader(tokens).row()).tex, source};
    } catch (error) {
        if (error instanceof SyntaxError) return source;
        throw error;
    }
}

// The names that occur in a formula: Map of a name, and whether it is nothing but a word there.
export function namesIn(text) {
    const tokens = tokensOf(text);
    markWords(tokens);
    const names = new Map();
    for (const {text: name, kind, word} of tokens)
        if (kind === 'name') names.set(name, word && (names.get(name) ?? true));
    return names;
}

// The TeX of a single name.
export const texOf = (name) => nameOf(name).tex;

// Leaves out factors that are 1 and summands that are 0: `neutral` are the names of parameters
// with these values, {name: '1' or '0'}.
export function withoutNeutral(text, neutral) {
    return Object.entries(neutral).reduce((formula, [name, value]) => {
        const signs = value === '1' ? '*' : '+';
        const before = new RegExp(` \\${signs} ${name}\\b(?! [/^*])(?![\\[(^])`, 'g');
        const after = new RegExp(`(^|[ (])(?<![/*^-] )${name} \\${signs} `, 'g');
        return formula.replace(before, '').replace(after, '$1');
    }, text);
}

// The formula as a list of texts and runs of mathematics, {tex, source}.
export function partsOf(text) {
    const tokens = tokensOf(text);
    markWords(tokens);
    const parts = [];
    let run = [],
        depth = 0,
        end = 0;
    const flush = () => {
        if (run.length === 0) return;
        const start = run[0].start;
        parts.push(text.slice(end, start), mathOf(run, text.slice(start, run.at(-1).end)));
        end = run.at(-1).end;
        run = [];
    };
    for (const token of tokens) {
        if (token.word || (depth === 0 && ',;:'.includes(token.text))) {
            flush();
            continue;
        }
        if (token.text in CLOSING) depth++;
        if (token.text === ')' || token.text === ']') depth--;
        run.push(token);
    }
    flush();
    return [...parts, text.slice(end)].filter((part) => part !== '');
}
