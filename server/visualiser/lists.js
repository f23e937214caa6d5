// Lists of numbers as people type them: "0, 4, 8..11".
import {brief} from './numbers.js';

const MOST_LINES = 24; // of one chart

// {numbers, mistake}: the allowed numbers, and a message about the first that is not allowed.
export function parseList(text, allowed, rule) {
    const numbers = [];
    for (const part of text.split(/[\s,;]+/).filter(Boolean)) {
        const [, first, last = first] =
            /^(-?[\d.]+?(?:e[+-]?\d+)?)(?:\.\.(-?[\d.]+(?:e[+-]?\d+)?))?$/i.exec(part) ?? [];
        const [from, to] = [Number(first ?? NaN), Number(last ?? NaN)];
        if (Number.isNaN(from) || Number.isNaN(to))
            return {numbers, mistake: `“${part}” is no number; ${rule}`};
        for (let each = from; each <= to; each++) {
            if (!allowed(each)) return {numbers, mistake: `${each} is not there; ${rule}`};
            if (!numbers.includes(each)) numbers.push(each);
            if (numbers.length > MOST_LINES)
                return {
                    numbers: numbers.slice(0, MOST_LINES),
                    mistake: `at most ${MOST_LINES} lines are drawn`,
                };
        }
    }
    return {numbers, mistake: ''};
}

// A few indices from 0 to extent - 1, denser at the beginning.
export function spread(extent) {
    const wanted =
        extent <= 5
            ? [0, 1, 2, 3, 4]
            : [0, 1 / 16, 1 / 8, 1 / 4, 1 / 2].map((part) => Math.round(part * extent));
    return [...new Set(wanted)].filter((each) => each < extent);
}

// "queries", and of "row of the query" "rows of the query".
export const pluralOf = (name) => {
    const [, words, rest = ''] = /^(.*?)( of .*)?$/.exec(name);
    return `${words.replace(/([^aeiou])y$/, '$1ie').replace(/xis$/, 'xe')}s${rest}`;
};

// "1 query", "3 queries".
export const countText = (number, name) => `${number} ${number === 1 ? name : pluralOf(name)}`;

// "query 3", "queries 0, 4, 8".
export const listText = (name, values) =>
    `${values.length === 1 ? name : pluralOf(name)} ${values.join(', ')}`;

// "2 to 5", of numbers that look the same "about 2".
export const rangeText = (ends) => {
    const [from, to] = ends.map(brief);
    return from === to ? `about ${from}` : `${from} to ${to}`;
};

// "0–3, 8": numbers in ascending order as ranges, the first `most`.
export function rangesText(numbers, most = 4) {
    const ranges = [];
    for (const each of numbers) {
        if (ranges.length > 0 && ranges.at(-1)[1] === each - 1) ranges.at(-1)[1] = each;
        else ranges.push([each, each]);
    }
    const shown = ranges
        .slice(0, most)
        .map(([from, to]) => (from === to ? String(from) : `${from}–${to}`));
    return `${shown.join(', ')}${ranges.length > most ? ' …' : ''}`;
}
