#!/usr/bin/env node
// A slow way to a server: tests that hold only on an idle machine fail here. Takes the server's
// flags, starts PROMPT_SERVER with them, and listens at an address of its own, where each piece
// of an answer comes up to LATE milliseconds late. harness.js delays the pages' clocks as well.
import {spawn} from 'node:child_process';
import {connect, createServer} from 'node:net';
import {createInterface} from 'node:readline';
import {setTimeout as wait} from 'node:timers/promises';

const {PROMPT_SERVER, LATE} = process.env;
const LISTENING = / listening on (http:\S+)/;

async function hand(from, to) {
    for await (const piece of from) {
        await wait(LATE * Math.random());
        to.write(piece);
    }
    to.end();
}

// The address of a way to the server at `url`.
async function openWay(url) {
    const {hostname, port} = new URL(url);
    const way = createServer((client) => {
        const server = connect(Number(port), hostname);
        client.on('error', () => server.destroy());
        server.on('error', () => client.destroy());
        client.pipe(server);
        hand(server, client).catch(() => client.destroy());
    });
    await new Promise((ready) => way.listen(0, '127.0.0.1', ready));
    return `http://127.0.0.1:${way.address().port}`;
}

const server = spawn(PROMPT_SERVER, process.argv.slice(2), {
    stdio: ['ignore', 'pipe', 'inherit'],
});
process.on('SIGINT', () => server.kill('SIGINT'));
server.on('exit', (code) => process.exit(code ?? 1));
for await (const line of createInterface({input: server.stdout})) {
    const url = LISTENING.exec(line)?.[1];
    console.log(url ? line.replace(url, await openWay(url)) : line);
}
