/** The search for processes in the namespaces of util-linux. */

import { expect, it } from 'vitest';
import { findUpToInit, readMountPoints } from '../../../src/sandbox/isolation/unshare.ts';

const CHILDREN = 1_000;

/** The /proc files of a machine with a chain of processes, the last of which has many children. */
function processesOf(chain: readonly { readonly pid: number; readonly inside: string }[]) {
  const files = new Map<string, string>();
  const last = chain.at(-1)?.pid ?? 0;
  for (const [index, { pid, inside }] of chain.entries()) {
    const children = chain.slice(index + 1, index + 2).map((child) => `${child.pid} `);
    files.set(`/proc/${pid}/task/${pid}/children`, children.join(''));
    files.set(`/proc/${pid}/status`, `Name:\tsh\nNSpid:\t${pid}${inside}\nNSpgid:\t1\t1\n`);
  }
  const many = Array.from({ length: CHILDREN }, (_, n) => 1_000 + n);
  for (const pid of many) files.set(`/proc/${pid}/status`, `NSpid:\t${pid}\t${pid}\t${pid}\n`);
  files.set(`/proc/${last}/task/${last}/children`, many.map((pid) => `${pid} `).join(''));
  const reads: string[] = [];
  const read = async (path: string) => {
    reads.push(path);
    const text = files.get(path);
    if (text === undefined) throw new Error('ENOENT');
    return text;
  };
  return { read, reads };
}

it('findUpToInit stops at process 1 of the namespace without reading its thousand children', async () => {
  const { read, reads } = processesOf([
    { pid: 10, inside: '' },
    { pid: 11, inside: '\t7' },
    { pid: 12, inside: '\t8\t1' },
  ]);
  expect(await findUpToInit(10, read)).toEqual([11, 12]);
  expect(reads).toHaveLength(4);
});

it('findUpToInit returns all processes when none is process 1 of a namespace, also if their number ends with 1', async () => {
  const { read } = processesOf([
    { pid: 10, inside: '' },
    { pid: 11, inside: '\t21' },
    { pid: 12, inside: '\t22\t31' },
  ]);
  expect(await findUpToInit(10, read)).toHaveLength(CHILDREN + 2);
});

it('parses the mount table and keeps visible mounts', () => {
  const text = [
    '20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw',
    '21 20 8:2 / /data rw,nosuid,relatime - ext4 /dev/sda2 rw',
    '22 21 8:3 / /data/deep ro,nodev - ext4 /dev/sda3 rw',
    '23 20 8:4 / /data rw,noexec - ext4 /dev/sda4 rw',
    '24 20 8:5 / /mnt/a\\040b rw - ext4 /dev/sda5 rw',
    '25 1 8:1 / / rw - ext4 /dev/sda1 rw',
    '26 20 8:6 / /data/later rw - ext4 /dev/sda6 rw',
    '',
  ].join('\n');
  expect(readMountPoints(text)).toEqual([
    { at: '/data', options: ['rw', 'noexec'] },
    { at: '/mnt/a b', options: ['rw'] },
    { at: '/', options: ['rw'] },
    { at: '/data/later', options: ['rw'] },
  ]);
});
