#!/usr/bin/env node
import { runCommand } from './cli/cli.ts';

/** The process: its arguments in, its exit code out. */
process.exitCode = await runCommand(process.argv.slice(2));
