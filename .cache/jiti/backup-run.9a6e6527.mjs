"use strict";Object.defineProperty(exports, "__esModule", { value: true });exports.callProgram = void 0;var _nodeChild_process = await jitiImport("node:child_process");
var _nodeUtil = await jitiImport("node:util");

/**
 * Runs a program of this machine, and resolves with its output. @throws an error with `code` and `stdout` if it fails
 */
const callProgram = exports.callProgram = (0, _nodeUtil.promisify)(_nodeChild_process.execFile); /* v9-5ba7bb0b44359fda */
