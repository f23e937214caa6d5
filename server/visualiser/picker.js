// The choice of a scheme: a button with its whole title, which opens a list in groups that a
// few letters shorten.
import {h} from './dom.js';
import {isBias} from './schema.js';

const GROUPS = [
    ['Biases of attention scores', (scheme) => isBias(scheme)],
    ['Rotary', ({family}) => family === 'rotary'],
    ['Relative', ({family}) => family === 'relative'],
    ['Learned', ({parameters}) => parameters.some(({name}) => name === 'set')],
    ['Absolute, of a grid', ({family}) => family === 'grid'],
    ['Absolute', ({family}) => family === 'absolute'],
];
const ORDER = [
    'Absolute',
    'Absolute, of a grid',
    'Rotary',
    'Biases of attention scores',
    'Relative',
    'Learned',
];

const groupOf = (scheme) => GROUPS.find(([, holds]) => holds(scheme))?.[0] ?? scheme.family;

// [[title, schemes]], in the order of ORDER; families that nobody has heard of come last.
function groupsOf(schemes) {
    const titles = [...new Set([...ORDER, ...schemes.map(groupOf)])];
    return titles
        .map((title) => [title, schemes.filter((scheme) => groupOf(scheme) === title)])
        .filter(([, members]) => members.length > 0);
}

const wordsOf = (text) =>
    text
        .toLowerCase()
        .split(/[^\p{L}\p{N}]+/u)
        .filter(Boolean);

// Whether all words that were typed begin a word of a scheme's texts.
function matches({name, title}, others, typed) {
    const words = wordsOf(`${name} ${title} ${others}`);
    return wordsOf(typed).every((word) => words.some((each) => each.startsWith(word)));
}

// Whether the typed text is a name of the scheme.
const isCalled = ({name, keywords}, typed) =>
    [name, ...keywords].some((each) => wordsOf(each).join() === wordsOf(typed).join());

// Fills `place`; `choose(name)` is called with what is chosen. show(name) says what it is now.
export function createPicker(place, side, schemes, choose) {
    const id = `${side}-scheme`;
    let lit = null; // the option that Enter chooses
    const button = h('button', {
        type: 'button',
        id,
        class: 'picker-button',
        'aria-expanded': 'false',
        'aria-controls': `${id}-list`,
        'aria-labelledby': `${id}-label ${id}`,
        onclick: () => (panel.hidden ? openList() : close()),
    });
    const search = h('input', {
        type: 'search',
        role: 'combobox',
        placeholder: 'search',
        autocomplete: 'off',
        spellcheck: 'false',
        'aria-label': 'Search schemes',
        'aria-expanded': 'true',
        'aria-controls': `${id}-list`,
        oninput: () => narrow(),
        onkeydown: press,
    });
    const options = [];
    const groups = groupsOf(schemes).map(([title, members], i) => {
        const made = members.map((scheme) => {
            const option = h(
                'li',
                {
                    role: 'option',
                    id: `${id}-${scheme.name}`,
                    'data-scheme': scheme.name,
                    'aria-selected': 'false',
                    title: scheme.summary,
                    onclick: () => pick(scheme.name),
                },
                scheme.title,
            );
            options.push({option, scheme, group: title});
            return option;
        });
        const heading = h('li', {role: 'presentation', id: `${id}-group-${i}`}, title);
        return h(
            'ul',
            {role: 'group', 'aria-labelledby': `${id}-group-${i}`},
            heading,
            ...made,
        );
    });
    const list = h(
        'div',
        {role: 'listbox', id: `${id}-list`, 'aria-label': 'Schemes'},
        ...groups,
    );
    const nothing = h(
        'p',
        {class: 'quiet', role: 'status', hidden: true},
        'No scheme is called that, and no model or paper that uses one.',
    );
    const panel = h('div', {class: 'picker', hidden: true}, search, list, nothing);
    place.append(button, panel);

    const shown = () => options.filter(({option}) => !option.hidden);
    function light(entry) {
        lit?.option.classList.remove('lit');
        lit = entry ?? null;
        if (!lit) return search.removeAttribute('aria-activedescendant');
        lit.option.classList.add('lit');
        lit.option.scrollIntoView({block: 'nearest'});
        search.setAttribute('aria-activedescendant', lit.option.id);
    }
    function narrow() {
        const typed = search.value.trim();
        // what people look for counts where no name does, and summaries where neither does
        const texts = [
            ({group}) => group,
            ({scheme, group}) => `${group} ${scheme.keywords.join(' ')}`,
            ({scheme}) => scheme.summary,
        ];
        const [found = new Set()] = texts
            .map((textOf) =>
                options.filter((each) => matches(each.scheme, textOf(each), typed)),
            )
            .filter((some) => some.length > 0)
            .map((some) => new Set(some));
        for (const entry of options) entry.option.hidden = !found.has(entry);
        for (const group of groups)
            group.hidden = !group.querySelector('[role=option]:not([hidden])');
        nothing.hidden = shown().length > 0;
        light(shown().find(({scheme}) => isCalled(scheme, typed)) ?? shown()[0]);
    }
    function openList() {
        panel.hidden = false;
        button.setAttribute('aria-expanded', 'true');
        search.value = '';
        narrow();
        light(options.find(({scheme}) => scheme.name === button.value) ?? shown()[0]);
        search.focus();
    }
    function close() {
        panel.hidden = true;
        button.setAttribute('aria-expanded', 'false');
        button.focus();
    }
    function pick(name) {
        close();
        choose(name);
    }
    function press(event) {
        const entries = shown(),
            at = entries.indexOf(lit);
        const STEPS = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1};
        if (event.key === 'Escape') {
            event.stopPropagation();
            close();
        } else if (event.key === 'Enter') {
            event.preventDefault(); // or it would press the button that has the focus then
            if (lit) pick(lit.scheme.name);
        } else if (event.key in STEPS && entries.length > 0) {
            event.preventDefault();
            light(entries[(STEPS[event.key] + entries.length) % entries.length]);
        }
    }
    return {
        show(name) {
            const scheme = schemes.find((each) => each.name === name);
            button.value = scheme ? name : '';
            button.textContent = scheme?.title ?? 'choose …';
            for (const {option, scheme: each} of options)
                option.setAttribute('aria-selected', String(each.name === name));
        },
    };
}
