// Before tests in virtual time: CONVEYOR_TEST_BUNDLE and CONVEYOR_TEST_SERVER, the wrapper that each test file starts.
'use strict';

const { ensureBundle } = require('../../scripts/bundle');
const { pathFrom } = require('./pathFrom');

module.exports = async () => {
  process.env.CONVEYOR_TEST_BUNDLE = (await ensureBundle()).codePath;
  process.env.CONVEYOR_TEST_SERVER = pathFrom('scripts/test-server.sh');
};
