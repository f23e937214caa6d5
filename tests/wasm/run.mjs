/* run.mjs PROGRAM.wasm ARGUMENTS…: run a program that was compiled for WASI. */
import {readFile} from 'node:fs/promises';
import {WASI} from 'node:wasi';

const [, , path, ...given] = process.argv;
const wasi = new WASI({version: 'preview1', args: [path, ...given]});
const program = await WebAssembly.compile(await readFile(path));
const imports = {wasi_snapshot_preview1: wasi.wasiImport};
process.exitCode = wasi.start(await WebAssembly.instantiate(program, imports));
