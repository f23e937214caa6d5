// Links from elsewhere: what is appended to them, what they hold that is no setting, how they
// look before they are opened, and whether a page of another site may frame the page.
import assert from 'node:assert/strict';
import {createServer} from 'node:http';
import {test} from 'node:test';
import {isTracker, nearest, withoutTrackers} from '../../server/visualiser/strangers.js';
import {
    assertAccessible,
    chooseScheme,
    drawn,
    newContext,
    open,
    pageTest,
    schemes,
    screenshot,
    startServer,
    withServer,
    url,
} from './harness.js';

const TRACKED =
    'utm_source utm_campaign fbclid gclid gbraid wbraid msclkid dclid ttclid twclid yclid ' +
    'li_fat_id igshid mc_cid mc_eid mkt_tok _hsenc _ga _gl ref ref_src si srsltid';

test('what networks append is known, and is no name of a parameter', () => {
    for (const name of TRACKED.split(' ')) assert.ok(isTracker(name), name);
    const own = schemes.flatMap(({parameters}) => parameters.map(({name}) => name));
    const page = [
        'scheme',
        'preset',
        'view',
        'tour',
        'embed',
        'theme',
        'right.scheme',
        'view.row',
    ];
    assert.deepEqual([...own, ...page].filter(isTracker), []);
    assert.equal(
        withoutTrackers('?utm_source=a%26b&scheme=rope&positions=0,1&fbclid=x&tour=2'),
        '?scheme=rope&positions=0,1&tour=2',
    );
    assert.equal(withoutTrackers('?gclid=1&UTM_Medium=2'), '');
});

test('the nearest parameter is told, and none for what is like no other', () => {
    const scheme = schemes.find(({name}) => name === 'sinusoidal');
    for (const [given, meant] of [
        ['lenght', 'length'],
        ['Dim', 'dim'],
        ['postions', 'positions'],
        ['something', ''],
        ['x'.repeat(5000), ''],
    ])
        assert.equal(nearest(scheme, given), meant, given.slice(0, 40));
});

const SEEN = '?scheme=sinusoidal&length=32&dim=16';

pageTest('a link shows its picture whatever a network appends to it', {}, async (page) => {
    await open(page, `${SEEN}&fbclid=IwAR0&utm_source=news&gclid=3`);
    assert.equal(await page.isVisible('#strangers'), false);
    const given = new URL(page.url()).searchParams;
    assert.deepEqual([given.get('length'), given.get('fbclid')], ['32', null]);
    await open(page, '?utm_source=news');
    assert.equal(await page.isVisible('#examples'), true, 'it is the first screen');
});

pageTest(
    'an unknown setting is told in a line, and renamed or removed; the picture is there',
    {},
    async (page) => {
        await open(page, '?scheme=sinusoidal&lenght=44&positions=0,1,2&dim=16');
        assert.equal(
            await page.innerText('#strangers'),
            'unknown setting "lenght": length? rename remove',
        );
        assert.equal(await page.isVisible('#left .error'), false, 'it is told once');
        await page.click('#strangers button:text-is("remove")');
        await drawn(page);
        assert.equal(await page.isVisible('#strangers'), false);
        assert.doesNotMatch(page.url(), /lenght/);
        await open(page, '?scheme=sinusoidal&offest=44&length=8&dim=16');
        await page.click('#strangers button:text-is("rename")');
        await drawn(page);
        assert.equal(new URL(page.url()).searchParams.get('offset'), '44');
        await open(page, `${SEEN}&right.scheme=rope&right.length=32&right.dim=16&right.dmi=4`);
        assert.match(await page.innerText('#strangers'), /^B: unknown setting "dmi"/);
    },
);

for (const [address, told, parameters] of [
    ['?scheme=rope&dim=128', /leaves it out: length 128\./, {dim: '128', length: '128'}],
    ['?scheme=alibi&mask=causal', /length \d+, heads \d+/, {mask: 'causal'}],
    ['?scheme=rope&rope_type=yarn', /factor 4, original max/, {rope_type: 'yarn'}],
    ['?scheme=levit&heads=2', /length \d+/, {heads: '2'}],
    ['?scheme=RoPE&dim=32&length=9', /"RoPE" is called rope here/, {dim: '32', length: '9'}],
    ['?scheme=nonsense', /There is no scheme "nonsense"/, {}],
    ['?scheme=sinusoidal&dim=8&length=64&length=32', /length is given twice/, {length: '32'}],
    ['?scheme=learned&length=8&dim=8&view=rotation', /no view "rotation".*Heatmap/, {}],
    ['?scheme=learned&length=8&dim=8&view.tensor=no', /no tensor "no": encoding/, {}],
    ['?scheme=learned&length=8&dim=8&view.foo=1', /no setting "view.foo"/, {}],
    ['?scheme=learned&length=8&dim=8&view.row=5', /Row 5 of 8 cannot begin/, {}],
])
    pageTest(
        `${address} is drawn, and what is changed is told`,
        {expected: /4\d\d/},
        async (page) => {
            await open(page, address);
            assert.match(await page.innerText('#strangers'), told);
            assert.equal(await page.isVisible('#view canvas.plot'), true);
            const given = new URL(page.url()).searchParams;
            for (const [name, value] of Object.entries(parameters))
                assert.equal(given.getAll(name).at(-1), value);
        },
    );

pageTest('a name that other libraries have is answered by the name here', {}, async (page) => {
    await open(page, '?scheme=rope&length=64&dim=64&base=500000');
    assert.equal(
        await page.innerText('#strangers'),
        '"base" is called rope_theta here use it remove',
    );
    await page.click('#strangers button:text-is("use it")');
    await drawn(page);
    const given = new URL(page.url()).searchParams;
    assert.deepEqual([given.get('rope_theta'), given.get('base')], ['500000', null]);
});

for (const [width, colorScheme] of [
    [360, 'light'],
    [768, 'dark'],
    [1440, 'light'],
])
    pageTest(
        `thirty unknown settings are one line that fits ${width} pixels`,
        {viewport: {width, height: 900}, colorScheme},
        async (page) => {
            const many = Array.from({length: 30}, (_, i) => `&${'unheard_'.repeat(20)}${i}=1`);
            await open(page, SEEN + many.join(''));
            assert.match(await page.innerText('#strangers'), /and 29 more/);
            assert.equal(await page.locator('#strangers p').count(), 1);
            const [high, wide] = await page.evaluate(() => [
                document.querySelector('#strangers').offsetHeight,
                document.documentElement.scrollWidth - innerWidth,
            ]);
            assert.ok(high < 120 && wide <= 0, `${high} high, ${wide} too wide`);
            await assertAccessible(page);
            await screenshot(page, `strangers-${width}-${colorScheme}`, {fullPage: false});
            await page.click('#strangers button:text-is("remove all")');
            await drawn(page);
            assert.doesNotMatch(page.url(), /unheard/);
        },
    );

pageTest('title and icon follow what is shown', {}, async (page) => {
    const icon = () => page.getAttribute('link[rel=icon]', 'href');
    await open(page, SEEN);
    await page.waitForFunction(() =>
        document.querySelector('link[rel=icon]').href.startsWith('blob:'),
    );
    const first = await icon();
    assert.match(await page.title(), /^Sinusoidal/);
    await chooseScheme(page, 'binary');
    await page.waitForFunction(
        (old) => document.querySelector('link[rel=icon]').href !== old,
        first,
    );
    assert.match(await page.title(), /^Binary/);
});

pageTest(
    'the page leads to the source where the operator says where it is',
    {},
    async (page) => {
        await open(page, SEEN);
        await page.waitForSelector('#release:has-text("posenc ")');
        assert.equal(await page.isVisible('#source'), false);
        const flags = ['--source-url', 'https://wiki.example/posenc'];
        await withServer(page, flags, async (telling) => {
            await page.goto(`${telling}/${SEEN}`);
            const link = page.getByRole('link', {name: 'source', exact: true});
            await link.waitFor();
            assert.equal(await link.getAttribute('href'), 'https://wiki.example/posenc');
        });
    },
);

pageTest('the page leads to its version, documents and licences', {}, async (page) => {
    await open(page, SEEN);
    await page.waitForSelector('#release:has-text("posenc ")');
    const {version} = await (await fetch(`${url}/v1/info`)).json();
    assert.ok((await page.innerText('footer')).includes(`posenc ${version}`));
    for (const [name, pattern] of [
        ['documents', /<h1 [^>]*>posenc<\/h1>/],
        ['licence', /^MIT License/],
        ['licences of what it contains', /MIT|ISC|Apache/],
    ]) {
        const address = await page.getAttribute(`footer a:text-is("${name}")`, 'href');
        const reply = await fetch(url + address);
        assert.equal(reply.status, 200, name);
        assert.match(await reply.text(), pattern);
    }
});

pageTest('what a link asks of a view and is not there is told', {}, async (page) => {
    const told = () => page.locator('#strangers, #view .error').allInnerTexts();
    for (const [address, pattern] of [
        ['?scheme=alibi&length=9&heads=2&view.slice=7', /slice "7" is not there: 1 is shown/],
        ['?scheme=rope&length=9&dim=8&view.slice=7', /cos has no slices: "7" is not used/],
        ['?scheme=rope&length=9&dim=8&view.mark=far', /training length "far" is no number/],
        ['?scheme=rope&length=9&dim=8&view.mark=-4', /training length "-4" is no number/],
        ['?scheme=rope&length=9&dim=8&view.precision.how=1', /no setting "view.precision.how"/],
        ['?scheme=rope&length=9&dim=8&view=precision&view.precision.stored=f8', /“f8” cannot/],
        ['?scheme=rope&length=9&dim=8&view=precision&view.precision.recipe=no', /“no” cannot/],
        ['?scheme=rope&length=9&dim=8&view=precision&view.precision.rows=0.5', /0.5 cannot/],
        ['?scheme=rope&length=9&dim=8&view=scores&view.scores.key=mine', /“mine” cannot/],
        ['?scheme=rope&length=9&dim=8&view=rotation&view.rotation.position=99', /“99” cannot/],
        ['?scheme=rope&length=9&dim=8&view=rotation&view.rotation.speed=99', /“99” cannot/],
        ['?scheme=alibi&length=9&heads=2&view=softmax&view.softmax.query=9', /“9” cannot/],
        ['?scheme=alibi&length=9&heads=2&view=heads&view.heads.page=2', /“2” cannot/],
        ['?scheme=integer&length=9&view=similarity&view.similarity.row=9', /“9” cannot/],
    ]) {
        await open(page, address);
        assert.match((await told()).join(' '), pattern, address);
    }
});

// ---- in a frame ----

// Whether a page of another origin has the picture in a frame of an address.
async function framed(address) {
    const web = createServer((request, response) => {
        response.setHeader('Content-Type', 'text/html');
        response.end(`<!doctype html><title>x</title><iframe src="${address}"></iframe>`);
    });
    await new Promise((listening) => web.listen(0, '127.0.0.1', listening));
    const context = await newContext();
    try {
        const page = await context.newPage();
        await page.goto(`http://localhost:${web.address().port}/`, {waitUntil: 'load'});
        const frame = page.frames().find((each) => each !== page.mainFrame());
        await frame.waitForLoadState();
        return await frame.evaluate(() => Boolean(document.querySelector('#view')));
    } finally {
        await context.close();
        await new Promise((closed) => web.close(closed));
    }
}

test('a page elsewhere frames the whole page where it may, else the picture', async () => {
    assert.equal(await framed(`${url}/${SEEN}`), false);
    assert.equal(await framed(`${url}/${SEEN}&embed=1`), true, 'the picture alone');
    const allowing = await startServer('--frame-ancestors', 'http://localhost:*');
    try {
        assert.equal(await framed(`${allowing.url}/${SEEN}`), true, 'the operator allows it');
    } finally {
        await allowing.stop();
    }
});
