// The state of the page and its address. The address's query is
//
//   tour=3 & scheme=rope&length=512&dim=64 & right.scheme=…&right.length=… & view=heatmap
//   & view.row=1024 … & embed=1 & theme=dark
//
// : the left settings by the parameters' own names, the right ones, if any, with `right.`
// before them, what concerns views with `view.`, and the step of the tour if it is taken. No
// parameter has a dot in its name, so a new one never clashes. `embed=1` shows the picture
// alone, `theme` says in which theme; `tour` and these are no parameters.

// view members that every view shares; all others belong to the view that set them.
//   tensor  name, '' for the scheme's first      slice  indices of the leading axes: "0,3"
//   row     the window's first row               mark   the training length, a position
//   column  the index of the highlighted one
export const PLACES = ['tensor', 'slice', 'row']; // those that decide which elements are loaded

const PAGE = ['embed', 'theme']; // how the page looks

const OLD_NAMES = {parameters: 'set'}; // in links that were made before

export function readAddress(search) {
    const state = {tour: '', left: null, right: null, view: 'heatmap', options: {}, page: {}};
    const names = [...new URLSearchParams(search).keys()];
    state.repeated = [...new Set(names.filter((name, i) => names.indexOf(name) !== i))];
    const left = {},
        right = {};
    for (const [key, value] of new URLSearchParams(search)) {
        if (key === 'view' || key === 'tour') state[key] = value;
        else if (PAGE.includes(key)) state.page[key] = value;
        else if (key.startsWith('view.')) state.options[key.slice(5)] = value;
        else if (key.startsWith('right.')) right[key.slice(6)] = value;
        else left[key] = value;
    }
    const settings = ({scheme, ...given}) => {
        const parameters = Object.entries(given).map(([name, value]) => [
            OLD_NAMES[name] ?? name,
            value,
        ]);
        return scheme ? {scheme, parameters: Object.fromEntries(parameters)} : null;
    };
    state.left = settings(left);
    state.right = settings(right);
    return state;
}

export function writeAddress({tour, left, right, view, options, page}) {
    const pairs = [];
    const add = (prefix, object) => {
        for (const [key, value] of Object.entries(object ?? {}))
            if (value != null && value !== '') pairs.push([prefix + key, value]);
    };
    add('', {tour});
    add('', left && {scheme: left.scheme, ...left.parameters});
    add('right.', right && {scheme: right.scheme, ...right.parameters});
    add('', {view});
    add('view.', options);
    add('', page);
    const escaped = (value) => encodeURIComponent(value).replace(/%2C/g, ',');
    return `?${pairs.map(([key, value]) => `${key}=${escaped(value)}`).join('&')}`;
}

// The path and query of what an address of the page shows, for another look of the page:
// {embed: '1'}, or {} for all of it.
export const fullAddress = (search, page) =>
    location.pathname + writeAddress({...readAddress(search), page});

// milliseconds: a longer rest between edits of one parameter makes another entry
const PAUSE = 1000;

// The one state of the page; `changed(state, kind)` is called after each change.
export function createStore(changed) {
    let state = readAddress(location.search);
    let last = {burst: '', at: 0}; // what made the last entry
    addEventListener('popstate', () => {
        last = {burst: '', at: 0};
        state = readAddress(location.search);
        changed(state, 'history');
    });
    return {
        get: () => state,
        // Go to an address of the page ("?scheme=…").
        visit(address) {
            last = {burst: '', at: 0};
            history.pushState(null, '', address);
            state = readAddress(location.search);
            changed(state, 'history');
        },
        // kind: 'settings', 'slide' and 'view' add an entry to the history; 'initial' replaces
        // the last one; 'quiet' replaces it and tells nobody. Edits with the same `burst` make
        // one entry together, as long as they are `held` together or no longer apart than
        // PAUSE; 'settings' that go on are told as 'adjust'.
        update(patch, kind = 'view', {burst = '', held = false} = {}) {
            state = {...state, ...patch};
            const address = writeAddress(state);
            const now = performance.now();
            const goesOn =
                burst !== '' && burst === last.burst && (held || now - last.at < PAUSE);
            const replaces = goesOn || ['initial', 'quiet'].includes(kind);
            if (!replaces || goesOn) last = {burst, at: now};
            if (address !== location.search) {
                if (replaces) history.replaceState(null, '', address);
                else history.pushState(null, '', address);
            }
            if (kind !== 'quiet')
                changed(state, goesOn && kind === 'settings' ? 'adjust' : kind);
        },
    };
}
