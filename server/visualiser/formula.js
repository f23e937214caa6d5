// A scheme's formula, which is plain text with words between, as text and MathML. What cannot
// be read as mathematics stays text.
const MATHML = 'http://www.w3.org/1998/Math/MathML';
const GREEK = {alpha: 'α', beta: 'β', theta: 'θ', omega: 'ω', pi: 'π', sigma: 'σ'};
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
const SIGNS = {'*': '⋅', '-': '−', '->': '→', '...': '…', '…': '…', '<=': '≤', '>=': '≥'};
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
            text: all,
            kind: number ? 'number' : name ? 'name' : 'sign',
            start: index,
            end,
            spaced,
        };
    });
}

const isPlain = (text) => !(text in GREEK || FUNCTIONS.has(text) || /[_\d]|'$/.test(text));

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

// Marks words, and all that stands in brackets with one.
function markWords(tokens) {
    tokens.forEach((token, i) => {
        token.word = isWord(tokens, i);
    });
    const open = [];
    tokens.forEach(({text}, i) => {
        if (text in CLOSING) open.push(i);
        if (text !== ')' && text !== ']') return;
        const inside = tokens.slice(open.pop() ?? 0, i + 1);
        if (inside.some(({word}) => word)) for (const token of inside) token.word = true;
    });
}

const create = (name, ...children) => {
    const element = document.createElementNS(MATHML, name);
    element.append(...children);
    return element;
};
function bracket(text, stretchy) {
    const element = create('mo', text);
    element.setAttribute('stretchy', String(stretchy));
    return element;
}
const row = (items) => (items.length === 1 ? items[0] : create('mrow', ...items));

// "w_i", "w2" and "R_i" have an index; a long name keeps its underscores.
function nameOf(text) {
    const [, head, digits, tail] = /^(\p{L}+?)(\d*)(?:_([\p{L}\d]{1,2}))?$/u.exec(text) ?? [];
    const symbol = (part) => create('mi', GREEK[part] ?? part);
    if (head == null || !(head.length <= 2 || head in GREEK))
        return symbol(text.replace(/'$/, '′'));
    const index = digits || tail;
    return index
        ? create('msub', symbol(head), create(/^\d+$/.test(index) ? 'mn' : 'mi', index))
        : symbol(head);
}

// Reads one run of tokens. Its methods return an element, or an array of them.
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
                items.push(create('mfrac', bare(items.pop()), bare(this.factor())));
            } else if ((OPERATORS.has(text) && text !== '|') || ',;:'.includes(text)) {
                items.push(create('mo', SIGNS[this.take().text] ?? text));
            } else {
                items.push(this.factor());
            }
        }
        if (closing) this.take();
        return items;
    }

    group(opening) {
        const closing = CLOSING[opening] ?? opening;
        const items = this.row(closing);
        const tall = items.some(
            (item) => item.localName === 'mfrac' || item.querySelector('mfrac'),
        );
        return create('mrow', bracket(opening, tall), ...items, bracket(closing, tall));
    }

    factor() {
        let element = this.primary();
        while (this.token?.text === '^' || this.touches('_')) {
            const {text} = this.take();
            const minus =
                this.token?.text === '-' ? [create('mo', SIGNS[this.take().text])] : [];
            element = create(
                text === '^' ? 'msup' : 'msub',
                element,
                row([...minus, bare(this.primary())]),
            );
        }
        return element;
    }

    primary() {
        const {text, kind} = this.take();
        if (kind === 'number') return create('mn', text);
        if (text === 'div' || text === 'mod') return create('mo', text);
        if (kind === 'name') return this.applied(nameOf(text));
        if (!(text in CLOSING) && text !== '|')
            throw new SyntaxError(`"${text}" begins nothing`);
        return this.group(text);
    }

    // A name with its arguments or its indices, if any.
    applied(name) {
        if (this.touches('('))
            return create('mrow', name, create('mo', '\u2061'), this.group(this.take().text));
        if (!this.touches('[')) return name;
        const group = this.group(this.take().text);
        return group.textContent.length <= SHORT_INDEX
            ? create('msub', name, bare(group))
            : create('mrow', name, group);
    }
}

// A group without its brackets, where a fraction or a place above or below shows what belongs
// together.
function bare(element) {
    const {children} = element;
    if (element.localName !== 'mrow' || !'(['.includes(children[0].textContent)) return element;
    return row([...children].slice(1, -1));
}

function mathOf(tokens, source) {
    try {
        const math = create('math', ...new Reader(tokens).row());
        math.setAttribute('alttext', source);
        return math;
    } catch (error) {
        if (error instanceof SyntaxError) return source;
        throw error;
    }
}

// The names that occur in a formula.
export const namesIn = (text) =>
    new Set(
        tokensOf(text)
            .filter(({kind}) => kind === 'name')
            .map((token) => token.text),
    );

// The formula as a list of texts and <math> elements.
export function typeset(text) {
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
