"""The command line: `train`, `compare`, `translate`, `attention` and `align`.

    main.py           the parser, and one line for each error      setting_flags.py   a flag for each setting
    training.py       `train`                                      trained_model.py   what `train` has saved
    comparing.py      `compare`                                    device.py          the device to compute on
    translating.py    `translate`
    drawing.py        `attention`
    aligning.py       `align`

A user's error is answered in one line, with exit status 2.
"""
