from bup.cli import main

main()
