import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { quoted } from '#console/Frame/lib/command.js';
import { table } from './table.mjs';

table('A word is quoted only where a shell would interpret it', quoted, [
  ['herald', 'herald'], ['--where', '--where'], ['status=503', 'status=503'], ['0:17', '0:17'], ['5%', '5%'],
  ['two words', "'two words'"], ['', "''"], ["it's", "'it'\\''s'"], ['$HOME', "'$HOME'"], ['a\nb', "'a\nb'"], ['größe', "'größe'"], ['~', "'~'"],
]);

test('A shell reads each word unchanged', () => {
  const words = ["it's", "''", '\\', '"', '`id`', '$(id)', '$HOME', '*', '~', '!!', '#', ';', 'a b', '', 'a\nb', '\t', '{a,b}', '&&', '<x>', 'ü', '-n'];
  const answer = execFileSync('sh', ['-c', `printf '<%s>\\0' ${words.map(quoted).join(' ')}`], { encoding: 'utf8' });
  assert.deepEqual(answer.split('\0').slice(0, -1), words.map((word) => `<${word}>`));
});
