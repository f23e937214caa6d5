// What pages may do: the own one where tables are closed, and one of another origin with what
// is stored.
import assert from 'node:assert/strict';
import {createServer} from 'node:http';
import {test} from 'node:test';
import {isOpen} from '../../server/visualiser/identify.js';
import {newContext, pageTest, startServer, url, withServer} from './harness.js';

test('the page identifies where the service lets it', () => {
    for (const host of ['localhost', '127.0.0.1', '[::1]', 'posenc.example', '10.0.0.1'])
        for (const [tables, wanted] of [
            ['open', true],
            ['key', true],
            ['closed', false],
            ['loopback', !/^(p|10)/.test(host)],
        ])
            assert.equal(isOpen({tables}, host), wanted, `${tables} ${host}`);
});

const identifies = async (page, address) => {
    const told = page.waitForResponse((response) => response.url().endsWith('/v1/info'));
    await page.goto(address);
    await (await told).finished();
    await page.waitForSelector('#view[data-drawn]');
    return page.isVisible('#identify-button');
};

pageTest(
    'there is no button where tables are closed, and what is dropped is told so',
    {},
    async (page) => {
        const flags = ['--bind', '0.0.0.0', '--tables', 'loopback'];
        await withServer(page, flags, async (closed) => {
            const address = closed.replace('0.0.0.0', '127.0.0.1');
            assert.equal(await identifies(page, address), false);
            await page.evaluate(() => {
                const dataTransfer = new DataTransfer();
                dataTransfer.items.add(new File(['x'], 'table.npy'));
                document.body.dispatchEvent(
                    new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer}),
                );
            });
            await page.waitForSelector('#identify-result .error');
            assert.match(await page.innerText('#identify-result'), /--tables/);
        });
        assert.equal(await identifies(page, url), true);
    },
);

// A safetensors file of one tensor of zeros.
function setOf(rows, columns) {
    const bytes = 4 * rows * columns;
    const head = JSON.stringify({
        table: {dtype: 'F32', shape: [rows, columns], data_offsets: [0, bytes]},
    });
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(head.length));
    return Buffer.concat([size, Buffer.from(head), Buffer.alloc(bytes)]);
}

test('a page of another origin reads nothing stored and starts no search', async () => {
    const server = await startServer();
    const web = createServer((request, response) => {
        response.setHeader('Content-Type', 'text/html');
        response.end('<!doctype html><title>another page</title>');
    });
    await new Promise((listening) => web.listen(0, '127.0.0.1', listening));
    const context = await newContext();
    try {
        const set = `${server.url}/v1/sets/secret`;
        assert.equal((await fetch(set, {method: 'PUT', body: setOf(8, 4)})).status, 201);
        const page = await context.newPage();
        await page.goto(`http://localhost:${web.address().port}/`);
        const outcomes = await page.evaluate(
            async ([base, path]) => {
                const outcome = (target, mode) =>
                    fetch(base + target, {mode}).then(
                        (reply) => reply.status,
                        () => 'failed',
                    );
                const image = new Image();
                const loaded = new Promise((told) => {
                    image.onload = () => told('loaded');
                    image.onerror = () => told('failed');
                });
                const learned = '/v1/encodings/learned?set=secret&length=8';
                image.src = `${base}${learned}&format=png`;
                return {
                    file: await outcome(path, 'cors'),
                    blind: await outcome(path, 'no-cors'),
                    learned: await outcome(learned, 'cors'),
                    picture: await loaded,
                    formula: await outcome('/v1/encodings/sinusoidal?length=4&dim=8', 'cors'),
                };
            },
            [server.url, '/v1/sets/secret'],
        );
        assert.deepEqual(
            {...outcomes, blind: 0}, // opaque to the page, whatever they are
            {file: 403, blind: 0, learned: 403, picture: 'failed', formula: 200},
        );
        const metrics = await (await fetch(`${server.url}/metrics`)).text();
        const refused = (route) =>
            Number(
                metrics.match(
                    new RegExp(
                        `requests_total\\{route="${route}",method="GET",status="4xx"\\} (\\d+)`,
                    ),
                )?.[1] ?? 0,
            );
        assert.equal(refused('/v1/sets/\\{name\\}'), 2);
        assert.equal(refused('/v1/encodings/\\{scheme\\}'), 2);
    } finally {
        await context.close();
        await new Promise((closed) => web.close(closed));
        await server.stop();
    }
});
