// What an address holds that is no setting: what networks, newsletters and advertisers append
// to links, which means nothing here, and names that no parameter has. What is told beside the
// settings: values that were filled in or left out, views and tensors that are not there.
import {h} from './dom.js';
import {plain} from './fields.js';
import {parameterOf} from './schema.js';

// No parameter has such a name.
const TRACKERS = new RegExp(
    `^(${[
        '(utm|mtm|pk|piwik|matomo|hsa|oly|vero|stm|itm|trk|gad|mc|ml)_\\w+',
        '(fbcl|gcl|dcl|ycl|msclk|ttcl|twcl|wicked|rb_click|irclick|aff_)id',
        'gbraid|wbraid|gclsrc|li_fat_id|igshid|igsh|srsltid|epik|s_cid|s_kwcid|ef_id|mkwid',
        '_ga|_gl|_hsenc|_hsmi|__hstc|__hssc|__hsfp|hsctatracking|mkt_tok|_openstat|ncid|cmpid',
        'ref|ref_src|ref_url|referrer|si|spm|campaign|campaign_id|sharesource',
    ].join('|')})$`,
    'i',
);

export const isTracker = (name) => TRACKERS.test(name);

// The query without them, all else as it is; '' where nothing remains.
export function withoutTrackers(search) {
    const pairs = search.slice(1).split('&');
    const own = pairs.filter((pair) => {
        const [name] = new URLSearchParams(pair).keys();
        return name !== undefined && !isTracker(name);
    });
    return own.length > 0 ? `?${own.join('&')}` : '';
}

const isKnown = (scheme, name) => name === 'preset' || parameterOf(scheme, name);

// The settings that the scheme takes.
export function ownSettings(scheme, settings) {
    const own = Object.entries(settings.parameters).filter(([name]) => isKnown(scheme, name));
    return {...settings, parameters: Object.fromEntries(own)};
}

// How many letters must be put, taken, exchanged or swapped with the next one to make one word
// of another.
function distanceBetween(one, other) {
    const rows = [[...Array(other.length + 1).keys()]];
    for (let i = 1; i <= one.length; i++) {
        rows.push([i]);
        for (let j = 1; j <= other.length; j++) {
            const same = one[i - 1] === other[j - 1];
            const swapped =
                i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
            rows[i][j] = Math.min(
                rows[i - 1][j] + 1,
                rows[i][j - 1] + 1,
                rows[i - 1][j - 1] + (same ? 0 : 1),
                swapped ? rows[i - 2][j - 2] + 1 : Infinity,
            );
        }
    }
    return rows[one.length][other.length];
}

const LONGEST = 40; // characters of a name that is compared or shown

// The parameter that other libraries call so, or that is most like a name, or ''.
export function nearest(scheme, name) {
    if (name.length > LONGEST) return '';
    const called = scheme.parameters.find(({aliases}) => aliases?.includes(name.toLowerCase()));
    if (called) return called.name;
    const names = ['preset', ...scheme.parameters.map((each) => each.name)];
    const [best] = names
        .map((each) => [distanceBetween(name.toLowerCase(), each), each])
        .sort(([one], [other]) => one - other);
    return best[0] <= Math.max(1, name.length / 3) ? best[1] : '';
}

const LONG_VALUE = 24; // characters

// What `completed` has filled in and left out, as a sentence; '' if nothing.
export function changesOf({parameters, added, removed}, why = '') {
    const shown = (text) => (text.length > LONG_VALUE ? `${text.slice(0, LONG_VALUE)}…` : text);
    const given = added.map((name) => `${plain(name)} ${shown(parameters[name])}`);
    const sentences = [
        given.length > 0 && `Filled in${why}: ${given.join(', ')}.`,
        removed.length > 0 &&
            `Left out, since it is replaced: ${removed.map(plain).join(', ')}.`,
    ];
    return sentences.filter(Boolean).join(' ');
}

// The scheme that a text names, in other letters or by a word for it: {scheme, text}; or
// undefined.
export function schemeCalled(schemes, text) {
    const letters = (name) => name.toLowerCase().replace(/[^a-z0-9]/g, '');
    const wanted = letters(text);
    return (
        schemes.find(({name}) => letters(name) === wanted) ??
        schemes.find(({keywords}) => keywords.some((word) => letters(word) === wanted))
    );
}

// Fills a line; `change(side, parameters)` takes what is to hold instead. show(sides, remarks)
// with [{side, scheme, settings, mark: 'A: ' or ''}] says which names no parameter has, the
// first one by itself; tell(side, parameters, text) says something as long as a side has these
// parameters.
export function createStrangers(line, change) {
    const told = {}; // by side: {parameters, text}
    const button = (text, onclick) => h('button', {type: 'button', onclick}, text);
    function lineOf({side, scheme, settings: {parameters}, mark}) {
        const names = Object.keys(parameters).filter((name) => !isKnown(scheme, name));
        if (names.length === 0) return [];
        const [name] = names;
        const without = (unwanted) =>
            Object.fromEntries(
                Object.entries(parameters).filter(([each]) => !unwanted.includes(each)),
            );
        const like = nearest(scheme, name);
        const meant = like && parameters[like] === undefined ? like : '';
        const too = meant ? '' : ', which is given too';
        const called = parameterOf(scheme, like)?.aliases?.includes(name.toLowerCase());
        const shown = name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
        const rename = () => change(side, {...without([name]), [meant]: parameters[name]});
        return [
            h(
                'p',
                {class: 'stranger'},
                called
                    ? `${mark}"${shown}" is called ${like} here${too} `
                    : `${mark}unknown setting "${shown}"${meant ? `: ${meant}?` : ''} `,
                meant && button(called ? 'use it' : 'rename', rename),
                meant && ' ',
                button('remove', () => change(side, without([name]))),
                names.length > 1 && ` and ${names.length - 1} more `,
                names.length > 1 && button('remove all', () => change(side, without(names))),
            ),
        ];
    }
    // What is told of a side, until its parameters change.
    function toldOf({side, settings: {parameters}, mark}) {
        if (told[side]?.parameters !== JSON.stringify(parameters)) delete told[side];
        return told[side] ? [`${mark}${told[side].text}`] : [];
    }
    return {
        tell(side, parameters, text) {
            told[side] = text ? {parameters: JSON.stringify(parameters), text} : undefined;
        },
        show(sides, remarks = []) {
            const quiet = [...sides.flatMap(toldOf), ...remarks];
            const lines = [
                ...quiet.map((text) => h('p', {class: 'told'}, text)),
                ...sides.flatMap(lineOf),
            ];
            line.replaceChildren(...lines);
            line.hidden = lines.length === 0;
        },
    };
}
