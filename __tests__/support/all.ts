export const testAll = process.env['TEST_ALL'] === '1';
