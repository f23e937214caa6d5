// The page: state, settings, tables and the view that is chosen.
import {createAbout} from './about.js';
import {Problem, addressOf, getDocument} from './api.js';
import {busy, busyUntil, later} from './busy.js';
import {coloursOf} from './colours.js';
import {differenceOf, refusalOf} from './difference.js';
import {byId, h} from './dom.js';
import {createDrawer} from './drawer.js';
import {createEmbed} from './embed.js';
import {createExamples} from './examples.js';
import {createFavicon} from './favicon.js';
import {takeDrops} from './files.js';
import {createHighlight} from './highlight.js';
import {createIdentify} from './identify.js';
import {legalSettings} from './legal.js';
import {createModel} from './model.js';
import {byteText} from './numbers.js';
import {begin, Panel} from './panel.js';
import {completed} from './prefill.js';
import {watchPreparation} from './preparing.js';
import {showRelease} from './release.js';
import {asksForLayout, remarksOn} from './remarks.js';
import {createRetry} from './retry.js';
import {beginningsOf, effectiveOf, missingOf, titleOf} from './schema.js';
import {closeSections} from './sections.js';
import {createStage} from './stage.js';
import {PLACES, createStore} from './state.js';
import {
    changesOf,
    createStrangers,
    ownSettings,
    schemeCalled,
    withoutTrackers,
} from './strangers.js';
import {loadTable} from './tables.js';
import {createTakeaway} from './takeaway.js';
import {createTheme} from './theme.js';
import {createTools} from './tools.js';
import {createTour, offerTour, wholeAddress} from './tour.js';
import {keepTaps} from './touch.js';
import {startTypesetting} from './typeset.js';
import {statedLength} from './variants.js';
import {viewsFor} from './views.js';

const START = 'sinusoidal'; // where a visit begins, if there is such a scheme
const SIDES = ['left', 'right'];
const BELOW = 84; // pixels of the window that are left for what stands below a picture
const LOW = 320; // the least height of a picture
const UNSEEN = 60; // pixels of controls within a view that an embedded picture leaves out
let schemes,
    store,
    about,
    embed,
    examples,
    favicon,
    highlight,
    identify,
    offer,
    panel,
    tools,
    tour,
    takeaway,
    theme,
    retry,
    stage,
    strangers;
let loading = null; // the AbortController of what is under way
let overtaken = false; // whether a slider has gone on meanwhile
let linked = true; // whether the settings are those of a link
let tables = []; // what is shown
let shownView; // and how
let drawnState = null; // the last that was drawn with its own tables

const schemeOf = (name) => schemes.find((scheme) => scheme.name === name);

// The live line above the view: '', 'told' or 'failed'.
function say(text, kind = '', cancelled = false) {
    byId('message').textContent = text;
    byId('message').className = kind;
    byId('resume').hidden = !cancelled;
    byId('undo').hidden = !cancelled || !drawnState;
}

// ---- loading ----

// By bytes; before the first of them by `done`, the share that the service says it has
// computed, or NaN: then the bar moves without an end.
function showProgress(parts, done = NaN) {
    const received = parts.reduce((sum, part) => sum + part.received, 0);
    const total = parts.reduce((sum, part) => sum + part.total, 0);
    const share = received > 0 ? received / total : done;
    if (Number.isNaN(share)) byId('progress').removeAttribute('value');
    else byId('progress').value = share;
    byId('loaded').textContent =
        received > 0
            ? `${byteText(received)} of ${byteText(total)}`
            : Number.isNaN(done)
              ? ''
              : `computed to ${Math.floor(100 * done)} %`;
}

function showReplies() {
    byId('replies').replaceChildren(
        ...tables.map((table, i) => {
            const {cache, timing, bytes, milliseconds} = table.reply;
            const address = addressOf(table.settings, {tensor: table.tensor.name});
            const stages = timing.replace(/;dur=/g, ' ').replace(/(\d),/g, '$1 ms,');
            return h(
                'p',
                {class: 'reply'},
                tables.length > 1 ? `${'AB'[i]}: ` : '',
                h('code', {}, `GET ${address}`),
                ` ${table.dtype} [${table.tensor.shape.join(', ')}], ${byteText(bytes)} in ` +
                    `${milliseconds.toFixed(0)} ms, cache ${cache}` +
                    (stages && `, ${stages} ms`),
            );
        }),
    );
}

const isGone = (error) => error instanceof Problem && error.status === 0;

// Wait for a service that does not answer.
function createWaiting() {
    const {stop, ...waiting} = createRetry(
        (when) => {
            say(`The service does not answer. ${when}`, 'failed');
            byId('retry').hidden = false;
        },
        () => (store ? load(store.get()) : begun()),
    );
    byId('retry').addEventListener('click', waiting.now);
    return {
        ...waiting,
        stop: () => {
            stop();
            byId('retry').hidden = true;
        },
    };
}

// Load the tables of the state and draw them. Loading that is in progress is aborted.
async function load(state) {
    const ended = busy();
    loading?.abort();
    retry.stop();
    const controller = new AbortController();
    loading = controller;
    overtaken = false;
    const {signal} = controller;
    const sides = SIDES.filter((side) => state[side]);
    const parts = sides.map(() => ({received: 0, total: 0}));
    const reveal = setTimeout(() => document.body.classList.add('loading'), 80);
    say('Loading …');
    showProgress(parts);
    const watched = new AbortController();
    watchPreparation(
        sides.map((side) => state[side].scheme),
        (done) => {
            if (loading === controller) showProgress(parts, done);
        },
        watched.signal,
    );
    try {
        const results = await Promise.allSettled(
            sides.map((side, i) => {
                const scheme = schemeOf(state[side].scheme);
                if (!scheme)
                    throw new Problem(
                        {detail: `There is no scheme ${state[side].scheme}; choose one.`},
                        404,
                    );
                return loadTable(scheme, ownSettings(scheme, state[side]), {
                    ...state.options,
                    signal,
                    progress(received, total) {
                        parts[i] = {received, total};
                        showProgress(parts);
                    },
                }).then((table) => Object.assign(table, {side}));
            }),
        );
        if (loading !== controller || (await settle(state, sides, results, signal))) return;
        if (loading !== controller) return;
        await show(sides, results);
    } catch (error) {
        if (loading === controller) tellFailure(error);
    } finally {
        clearTimeout(reveal);
        watched.abort();
        if (loading === controller) {
            loading = null;
            if (overtaken) slide(store.get());
            else document.body.classList.remove('loading');
        }
        ended();
    }
}

// Put a slider whose value is refused where the service takes it, and fill in what a link
// leaves out; whether that has been done.
async function settle(state, sides, results, signal) {
    const slid = panel.slid();
    const i = slid
        ? sides.indexOf(slid.side)
        : results.findIndex(({reason}) => reason?.document?.errors?.some(isAbsent));
    const refused = results[i]?.reason,
        side = sides[i];
    if (!(refused instanceof Problem) || isGone(refused)) return false;
    const settings = state[side];
    if (!slid) return linked && !settings.filled && fill(side);
    if (tables[i]?.settings.scheme !== settings.scheme) return false;
    const {parameters, text} = await legalSettings(
        schemeOf(settings.scheme),
        settings,
        slid.name,
        tables[i],
        signal,
    );
    if (store.get()[side] !== settings) return true;
    strangers.tell(side, parameters, text);
    store.update({[side]: {...settings, parameters}}, 'slide', {
        burst: `${side}.${slid.name}`,
        held: true,
    });
    return true;
}

const isAbsent = ({given}) => given === null;

// Whether a link leaves out what its scheme requires.
const lacks = ({scheme: name, parameters}) =>
    missingOf(schemeOf(name), effectiveOf(schemeOf(name), parameters)).length > 0;

// Fill in what a link leaves out of a side, and say so after `why`.
async function fill(side, {scheme, given, why = ''} = {}) {
    const settings = store.get()[side];
    scheme ??= schemeOf(settings.scheme);
    given ??= settings.parameters;
    const own = ownSettings(scheme, {parameters: given}).parameters;
    const answer = await busyUntil(completed(scheme, own));
    if (store.get()[side] !== settings) return true;
    const parameters = {...given, ...answer.parameters};
    const filled = changesOf(answer, ', since the link leaves it out');
    strangers.tell(side, parameters, `${why} ${filled}`.trim());
    store.update({[side]: {scheme: scheme.name, parameters, filled: true}}, 'initial');
    return true;
}

function tellFailure(error) {
    if (isGone(error)) retry.failed();
    else
        say(
            ...(error.name === 'AbortError'
                ? ['Cancelled.', 'told', true]
                : [error.message, 'failed']),
        );
}

function show(sides, results) {
    const failures = results.map(({reason}) => reason);
    sides.forEach((side, i) =>
        panel.complain(
            side,
            failures[i] instanceof Problem && !isGone(failures[i]) ? failures[i] : null,
        ),
    );
    const failure = failures.find(Boolean);
    if (failure) {
        if (!(failure instanceof Problem) && failure.name !== 'AbortError')
            console.error(failure);
        document.body.classList.add('stale');
        return tellFailure(failure);
    }
    retry.worked();
    tables = results.map(({value}) => value);
    drawnState = store.get();
    document.body.classList.remove('stale');
    showReplies();
    return draw();
}

// ---- the view ----

const tabs = new Map(); // by view: a button that stays keeps the focus

function showTabs(view, possible) {
    const buttons = possible.map((each) => {
        if (!tabs.has(each))
            tabs.set(
                each,
                h('button', {
                    type: 'button',
                    'data-view': each.name,
                    onclick: () => store.update({view: each.name}),
                }),
            );
        tabs.get(each).textContent = titleOf(each, tables[0]);
        tabs.get(each).setAttribute('aria-pressed', String(each === view));
        return tabs.get(each);
    });
    const present = [...byId('tabs').children];
    if (present.length !== buttons.length || present.some((each, i) => each !== buttons[i]))
        byId('tabs').replaceChildren(...buttons);
    const {offsetLeft, offsetWidth} = tabs.get(view);
    const row = byId('tabs'),
        left = offsetLeft - row.offsetLeft;
    row.scrollLeft = Math.min(
        left,
        Math.max(row.scrollLeft, left + offsetWidth - row.clientWidth),
    ); // on a phone some are out of sight
}

function showTitle(view) {
    const titles = [...new Set(tables.map(({scheme}) => scheme.title))];
    document.title = `${titles.join(' and ')} – ${titleOf(view, tables[0])} – posenc`;
}

// All views of the tables, and the one that is shown.
function viewsNow() {
    const [{tensor, scheme}] = tables;
    const possible = viewsFor(tensor, scheme);
    return [possible, possible.find(({name}) => name === store.get().view) ?? possible[0]];
}

// Draw the tables; resolves when the picture is complete, or overtaken by another.
async function draw() {
    if (tables.length === 0) return;
    const state = store.get();
    const [possible, view] = viewsNow();
    shownView = view;
    showTabs(view, possible);
    showTitle(view);
    about.show(tables);
    tools.show(tables, state, view);
    highlight.show(tables, state.options, possible, view);
    takeaway.show(tables);
    showStrangers(state);
    if (asksForLayout(tables, view))
        Promise.all(tables.map(({wavelengthsKnown}) => wavelengthsKnown)).then(() =>
            showStrangers(store.get()),
        );
    const ended = busy();
    try {
        const complete = await stage.draw(
            view,
            (...given) => contextOf(state, ...given),
            appear,
        );
        if (complete) embed.show(document.title.replace(/ – posenc$/, ''));
        if (complete && !document.body.classList.contains('stale')) say('');
    } catch (error) {
        if (!isGone(error)) throw error;
        retry.failed();
    } finally {
        ended();
    }
}

// A picture is put on the screen; what is not part of it comes after it has been painted. A tab
// in the background paints nothing.
function appear() {
    if (document.hidden) showRest();
    else requestAnimationFrame(() => setTimeout(showRest));
}

function showRest() {
    favicon.show(tables[0], coloursOf(theme.current()));
    if (embed.active) return;
    examples.ready(schemes);
    startTypesetting();
}

// The height that the window leaves for a picture.
const heightLeft = () =>
    Math.max(
        LOW,
        innerHeight -
            Math.round(byId('view').getBoundingClientRect().top + scrollY) -
            (embed.active ? -UNSEEN : BELOW),
    );

function contextOf(state, signal, until, hover) {
    const mark = Number(state.options.mark || (statedLength(tables[0]) ?? NaN));
    const refusal = tables[1] ? refusalOf(...tables) : '';
    return {
        tables,
        difference: tables[1] && !refusal ? differenceOf(tables[0], tables[1]) : null,
        refusal,
        options: {...state.options},
        mark: mark > 0 ? mark : null,
        taken: (others) => {
            if (!signal.aborted) takeaway.show(others);
        },
        colours: coloursOf(theme.current()),
        signal,
        until,
        width: byId('view').clientWidth,
        height: heightLeft(),
        hover,
        update: (patch, {quiet = false, view = store.get().view} = {}) => {
            const now = store.get();
            // the next table is loading: its address is not this drawing's
            if (quiet && placeOf(now) !== placeOf(state)) return;
            store.update({view, options: {...now.options, ...patch}}, quiet ? 'quiet' : 'view');
            if (quiet && 'column' in patch)
                highlight.show(tables, store.get().options, ...viewsNow());
        },
        load: (side, options) =>
            loadTable(tables[side].scheme, tables[side].settings, {
                described: tables[side].described,
                ...options,
                signal,
            }),
    };
}

// ---- life ----

const placeOf = ({left, right, options}) =>
    JSON.stringify([left, right, PLACES.map((name) => options[name] || '')]);
let place = '';

const loadSoon = later(load, 120);
const catchUp = later(() => {
    if (overtaken) load(store.get());
}, 120);

// A slider moves: load at once. While that is in progress, remember the latest value and load
// it next.
function slide(state) {
    if (!loading) return load(state);
    overtaken = true;
    catchUp();
}

function cancel() {
    overtaken = false;
    loading?.abort();
    if (stage.cancel()) say('Cancelled.', 'told', true);
}

function changed(state, kind) {
    if (kind !== 'initial') offer.hide();
    if (kind !== 'view') linked = ['initial', 'history'].includes(kind);
    tour.show(state.tour);
    const misnamed = SIDES.find((side) => state[side] && !schemeOf(state[side].scheme));
    if (misnamed) return void rename(state, misnamed);
    if (
        !state.left ||
        (schemeOf(state.left.scheme) &&
            Object.keys(state.left.parameters).length === 0 &&
            !['settings', 'adjust', 'slide'].includes(kind))
    )
        return void start(state);
    const lacking =
        linked &&
        SIDES.find((side) => state[side] && !state[side].filled && lacks(state[side]));
    if (lacking) return void fill(lacking);
    panel.show(state, kind);
    showStrangers(state);
    if (placeOf(state) === place) return void draw();
    place = placeOf(state);
    if (kind === 'adjust') loadSoon(state);
    else if (kind === 'slide') slide(state);
    else load(state);
}

// A scheme that a link calls otherwise, or that there is not.
function rename(state, side) {
    const {scheme: text, parameters} = state[side];
    const called = schemeCalled(schemes, text);
    const scheme = called ?? schemeOf(START) ?? schemes[0];
    const why = called
        ? `"${text}" is called ${scheme.name} here: ${scheme.title}.`
        : `There is no scheme "${text.slice(0, 40)}": ${scheme.title} is shown.`;
    return fill(side, {scheme, given: called ? parameters : {}, why});
}

// What the address holds that is no setting.
function showStrangers(state) {
    const sides = SIDES.filter((side) => state[side] && schemeOf(state[side].scheme));
    strangers.show(
        sides.map((side) => ({
            side,
            scheme: schemeOf(state[side].scheme),
            settings: state[side],
            mark: state.right ? `${side === 'left' ? 'A' : 'B'}: ` : '',
        })),
        remarksOn(state, tables, shownView),
    );
}

// Draw anew where the view has another width, or the window another height.
function watchSizes() {
    const drawSoon = later(draw, 60);
    let width = byId('view').clientWidth,
        height = innerHeight;
    new ResizeObserver(([{contentRect}]) => {
        if (Math.round(contentRect.width) !== Math.round(width)) drawSoon();
        width = contentRect.width;
    }).observe(byId('view'));
    addEventListener('resize', () => {
        // a phone hides its bars while it scrolls
        if (Math.abs(innerHeight - height) < BELOW) return;
        height = innerHeight;
        drawSoon();
    });
}

// Settings for an address that names none, or a scheme alone, unless another is gone to
// meanwhile.
async function start(state) {
    const named = schemeOf(state.left?.scheme) ?? schemeOf(START) ?? schemes[0];
    const left = await busyUntil(begin(named));
    if (store.get().left !== state.left) return;
    strangers.tell('left', left.parameters, beginningsOf(named).why);
    store.update({left}, 'initial');
}

// Ask what there is, and begin; try again if nobody answers.
async function begun() {
    retry.stop();
    say('Loading …');
    try {
        ({schemes} = await busyUntil(getDocument('/v1/schemes')));
    } catch (error) {
        return isGone(error) ? retry.failed() : say(error.message, 'failed');
    }
    const toured = wholeAddress(location.search);
    showRelease(byId('release'), byId('source')).catch(() => {}); // what is drawn will tell why
    if (toured) history.replaceState(null, '', toured);
    store = createStore(changed);
    const update = (patch, view = store.get().view) =>
        store.update({view, options: {...store.get().options, ...patch}});
    tools = createTools(byId('tools'), update);
    highlight = createHighlight(byId('highlight'), update);
    takeaway = createTakeaway(byId('takeaway'), byId('view'), () => ({
        tables,
        view: shownView,
        colours: coloursOf(theme.current()),
    }));
    strangers = createStrangers(byId('strangers'), (side, parameters) =>
        store.update({[side]: {...store.get()[side], parameters}}, 'settings'),
    );
    panel = new Panel(schemes, store, (...told) => {
        strangers.tell(...told);
        showStrangers(store.get());
    });
    watchSizes();
    changed(store.get(), 'initial');
}

function main() {
    const own = withoutTrackers(location.search);
    if (own !== location.search)
        history.replaceState(null, '', location.pathname + own + location.hash);
    favicon = createFavicon(document.querySelector('link[rel=icon]'));
    stage = createStage(byId('view'), byId('readout'));
    embed = createEmbed(byId('embed-title'), byId('view'));
    theme = createTheme(
        byId('theme'),
        () => {
            identify?.draw();
            return draw();
        },
        embed.theme,
    );
    about = createAbout(byId('about'));
    const first = location.search === '';
    examples = createExamples(byId('examples-button'), byId('examples'), {
        open: first && matchMedia('(min-width: 801px)').matches,
        visit: (address) => store?.visit(address),
    });
    const visit = (address) => {
        examples.hide();
        store?.visit(address);
    };
    tour = createTour(byId('tour-link'), byId('tour'), {
        visit: (address) => {
            closeSections();
            store?.visit(address);
        },
        leave: () => store.update({tour: ''}),
    });
    offer = offerTour(byId('offer'), first, () => tour.begin());
    const model = createModel(byId('model-button'), byId('model'), {
        visit,
        schemeOf: (name) => schemes.find((each) => each.name === name),
        identify: (file, shape) => identify.open(file, shape),
    });
    identify = createIdentify(byId('identify-button'), byId('identify'), {
        visit,
        colours: () => coloursOf(theme.current()),
    });
    takeDrops({model, identify});
    createDrawer(byId('settings'), byId('sides'));
    keepTaps(byId('view'));
    retry = createWaiting();
    byId('cancel').addEventListener('click', cancel);
    byId('resume').addEventListener('click', () => load(store.get()));
    byId('undo').addEventListener('click', () => {
        say('');
        place = ''; // it is loaded anew, whatever was under way
        store.update({...drawnState}, 'settings');
    });
    addEventListener('keydown', ({key}) => {
        if (key === 'Escape') cancel();
    });
    return begun();
}

main().catch((error) => say(error.message, 'failed'));
