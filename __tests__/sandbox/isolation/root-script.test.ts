import { expect, it } from 'vitest';
import { readMountPoints } from '../../../src/sandbox/isolation/root-script.ts';

it('of the mounts of a machine, those count that are seen', () => {
  const text = [
    '20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw',
    '21 20 8:2 / /data rw,nosuid,relatime - ext4 /dev/sda2 rw',
    '22 21 8:3 / /data/deep ro,nodev - ext4 /dev/sda3 rw',
    '23 20 8:4 / /data rw,noexec - ext4 /dev/sda4 rw',
    '24 20 8:5 / /mnt/a\\040b rw - ext4 /dev/sda5 rw',
    '',
  ].join('\n');
  expect(readMountPoints(text)).toEqual([
    { at: '/', options: ['rw', 'relatime'] },
    { at: '/data', options: ['rw', 'noexec'] },
    { at: '/mnt/a b', options: ['rw'] },
  ]);
});
